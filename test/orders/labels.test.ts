import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isBarcodable, numberOf, templateFor } from '../../api/carriers/labels/parcel.ts'
import { carriersDouble, connecting, type CarriersDouble } from '../doubles/carriers.ts'
import { testApp, type CallOptions, type TestApp } from '../harness.ts'
import { ADDRESS, made, newShop, paths, type Shop } from '../shop.ts'
import { readPdf } from '../paper.ts'
import { barcodes, readDpl, readEpl, readZpl, turnedBack } from './labels.ts'

let carriers: CarriersDouble
let app: TestApp
let shop: Shop
beforeAll(async () => {
  carriers = carriersDouble()
  app = await testApp({ carriers: carriers.urls })
})
beforeEach(async () => {
  shop = await newShop(app, { name: 'Atelier Nord' })
})
afterAll(async () => {
  await app.close()
  carriers.close()
})

type Name = 'carrier_a' | 'carrier_b'
const SENDER = { line1: 'ul. Świętojańska 12/4', city: 'Gdynia', postalCode: '81-368', country: 'PL' }
const connect = async (name: Name, more: object = {}, options?: CallOptions) =>
  made(await shop.call('PUT', `/addons/${name}`, connecting(carriers, name, more), options))
const ship = (orderId: string, body: object = {}, options?: CallOptions) => shop.post(`/orders/${orderId}/shipments`, body, options)

/** A paid order that goes by a carrier. */
async function ordered(addonName: string | null, { variant = {}, quantity = 1, method = {}, address = ADDRESS as object } = {}) {
  const methodId = await shop.method({ ...(addonName ? { addonName } : {}), ...method })
  const variantId = await shop.variant({ shippable: true, ...variant })
  return shop.buy({ items: [{ variantId, quantity }], shippingMethodId: methodId, shippingAddress: address })
}

/** The label of a shipment, as it comes. */
async function print(shipment: { id: string; orderId: string }, key = shop.keys.admin) {
  const response = await app.app.fetch(
    new Request(`http://localhost/api/v1/orders/${shipment.orderId}/shipments/${shipment.id}/label`, {
      headers: { authorization: `Bearer ${key}` },
    }),
  )
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, type: response.headers.get('content-type'), headers: response.headers, bytes }
}
const wordsOf = async (bytes: Buffer) => (await readPdf(bytes))[0]!.texts.map(({ text }) => text)
const READERS = { zpl: (bytes: Buffer) => readZpl(bytes.toString('latin1')), epl: readEpl, dpl: readDpl }

describe('a shipment of an order whose method is linked to a carrier', () => {
  test('records the carrier, and what the barcode says', async () => {
    await connect('carrier_a')
    const order = await ordered('carrier_a')
    const shipment = made(await ship(order.id))
    expect(shipment).toMatchObject({
      carrier: 'carrier_a',
      trackingNumber: null,
      label: { addonName: 'carrier_a', environment: 'live', number: numberOf(shipment.id), template: null },
    })
    expect(made(await shop.get(`/orders/${order.id}/shipments`)).data).toEqual([shipment])
  })

  test.each([
    ['JD014600006281230704', 'JD014600006281230704'],
    ['x'.repeat(41), null],
    ['Ł123', null],
    ['   ', null],
  ])('a tracking number %j is in the barcode where it can be one', async (trackingNumber, number) => {
    await connect('carrier_a')
    const shipment = made(await ship((await ordered('carrier_a')).id, { trackingNumber }))
    expect(shipment.label.number).toBe(number ?? numberOf(shipment.id))
  })

  test('a parcel that somebody else brings has no label', async () => {
    await connect('carrier_b')
    const shipment = made(await ship((await ordered('carrier_b')).id, { carrier: 'UPS' }))
    expect(shipment).toMatchObject({ carrier: 'UPS', label: null })
    const { status, bytes } = await print(shipment)
    expect([status, JSON.parse(bytes.toString())]).toEqual([404, expect.objectContaining({ error: expect.stringContaining('no label') })])
  })

  test('neither has one whose method is not linked, is gone, or whose carrier has no credentials left', async () => {
    await connect('carrier_a')
    const [plain, gone, bare] = [await ordered(null), await ordered('carrier_a'), await ordered('carrier_a')]
    made(await shop.remove(`/shipping/${gone.shipping.methodId}`))
    const shipments = [made(await ship(plain.id)), made(await ship(gone.id))]
    made(await shop.remove('/addons/carrier_a?environment=live'))
    shipments.push(made(await ship(bare.id)))
    for (const shipment of shipments) {
      expect(shipment).toMatchObject({ carrier: null, label: null })
      expect((await print(shipment)).status).toBe(404)
    }
  })

  test('needs orders:read; a shipment of another order, or none, is 404', async () => {
    await connect('carrier_a')
    const [order, other] = [await ordered('carrier_a'), await ordered('carrier_a')]
    const shipment = made(await ship(order.id))
    expect((await print(shipment, await shop.keyWith('orders:read'))).status).toBe(200)
    expect((await print(shipment, await shop.keyWith('orders:write'))).status).toBe(403)
    for (const wrong of [
      { id: shipment.id, orderId: other.id },
      { id: 'x', orderId: order.id },
      { id: shipment.id, orderId: 'x' },
    ])
      expect((await print(wrong)).status).toBe(404)
  })

  test('409 once the carrier is disconnected, or the credentials that it was made with are gone', async () => {
    await connect('carrier_a')
    const order = await ordered('carrier_a')
    const shipment = made(await ship(order.id))
    await connect('carrier_a', { environment: 'test' })
    made(await shop.remove('/addons/carrier_a?environment=live'))
    const cleared = await print(shipment)
    expect([cleared.status, JSON.parse(cleared.bytes.toString()).error]).toEqual([
      409,
      expect.stringContaining('no longer connected for live'),
    ])
    made(await shop.remove(`/shipping/${order.shipping.methodId}`))
    made(await shop.remove('/addons/carrier_a'))
    expect((await print(shipment)).status).toBe(409)
    await connect('carrier_a')
    expect((await print(shipment)).status).toBe(200)
  })

  test('stays what it was when the method, the store and the carrier change', async () => {
    await connect('carrier_a')
    await connect('carrier_b', { fallbackTemplate: 'small' })
    await shop.settings({ address: SENDER })
    const order = await ordered('carrier_a', { variant: { weightGrams: 500 } })
    const shipment = made(await ship(order.id))
    const before = await print(shipment)
    made(await shop.patch(`/shipping/${order.shipping.methodId}`, { name: 'Other', type: 'parcel', price: 1, addonName: 'carrier_b' }))
    await shop.settings({ name: 'New name', address: { line1: 'Elsewhere 5' } })
    made(await shop.patch(`/variants/${order.lines[0].variantId}`, { weightGrams: 900 }))
    const after = await print(shipment)
    expect([before.status, after.status, after.bytes.equals(before.bytes)]).toEqual([200, 200, true])
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'))
  })
})

describe('formats of carrier_a', () => {
  const printed = async (labelMode: string | undefined, order: object = {}) => {
    await connect('carrier_a', labelMode ? { labelMode } : {})
    await shop.settings({ address: SENDER })
    const shipment = made(await ship((await ordered('carrier_a', order)).id))
    return { ...(await print(shipment)), shipment }
  }

  test.each([
    [undefined, 210, 297, [0, 210]],
    ['one_label_on_a4_pdf', 210, 297, [0, 210]],
    ['four_labels_on_a4_pdf', 297, 210, [0, 148.5]],
    ['four_labels_on_a4_right_pdf', 297, 210, [148.5, 297]],
    ['roll_160x100_pdf', 160, 100, [0, 160]],
  ] as const)('%s is a PDF of one page of %i by %i mm, with the label where it belongs', async (mode, width, height, [from, to]) => {
    const { status, type, bytes, headers } = await printed(mode)
    expect([status, type]).toEqual([200, 'application/pdf'])
    expect(headers.get('content-disposition')).toMatch(/^inline; filename="label-\d+-\w{12}\.pdf"$/)
    const pages = await readPdf(bytes)
    expect(pages.map((page) => [page.width, page.height])).toEqual([[width, height]])
    const { texts } = pages[0]!
    expect(texts.length).toBeGreaterThan(8)
    for (const text of texts) {
      expect(text.x, text.text).toBeGreaterThanOrEqual(from + 3)
      expect(text.x + text.width, text.text).toBeLessThanOrEqual(to - 3)
      expect(text.y, text.text).toBeGreaterThan(3)
      expect(text.y, text.text).toBeLessThan(height > 200 ? (height === 297 ? 125 : 105) : 100)
    }
  })

  test.each([
    ['roll_160x100_printer_a', 'zpl'],
    ['roll_160x100_printer_a_epl', 'epl'],
    ['roll_160x100_printer_b', 'dpl'],
  ] as const)('%s is %s for a roll of 100 mm, 160 mm long, with a barcode that a reader reads', async (mode, language) => {
    const { status, type, bytes, shipment } = await printed(mode)
    expect([status, type]).toEqual([200, `application/${language}`])
    const { width, length, dots } = READERS[language](bytes)
    expect([width, length, dots[0]!.length, dots.length]).toEqual([100 * 8, 160 * 8, 100 * 8, 160 * 8])
    expect(await barcodes(turnedBack(dots))).toEqual([shipment.label.number])
  })

  test('all printers get the same dots', async () => {
    const { shipment } = await printed('roll_160x100_printer_a')
    const pictures = []
    for (const [mode, read] of [
      ['roll_160x100_printer_a', READERS.zpl],
      ['roll_160x100_printer_a_epl', READERS.epl],
      ['roll_160x100_printer_b', READERS.dpl],
    ] as const) {
      await connect('carrier_a', { labelMode: mode })
      pictures.push(JSON.stringify(read((await print(shipment)).bytes).dots))
    }
    expect(new Set(pictures).size).toBe(1)
  })

  test('the longest tracking number that a barcode takes can be read', async () => {
    await connect('carrier_a', { labelMode: 'roll_160x100_printer_a' })
    const trackingNumber = 'Zz~^"-'.repeat(7).slice(0, 40)
    const shipment = made(await ship((await ordered('carrier_a')).id, { trackingNumber }))
    expect(await barcodes(turnedBack(READERS.zpl((await print(shipment)).bytes).dots))).toEqual([trackingNumber])
  })

  test('the same label has the same bytes each time', async () => {
    const { shipment } = await printed('roll_160x100_pdf')
    for (const labelMode of ['one_label_on_a4_pdf', 'roll_160x100_pdf', 'roll_160x100_printer_a', 'roll_160x100_printer_b']) {
      await connect('carrier_a', { labelMode })
      const [first, second] = [await print(shipment), await print(shipment)]
      expect(first.bytes.equals(second.bytes)).toBe(true)
    }
  })
})

describe('what a label says', () => {
  const words = async (order: object, body: object = {}, options: { key?: string } = {}) => {
    await connect('carrier_a', { labelMode: 'roll_160x100_pdf' })
    return wordsOf((await print(made(await ship((await ordered('carrier_a', order)).id, body)), options.key)).bytes)
  }

  test('who sends it, who gets it, what it weighs, and the order', async () => {
    await shop.settings({ address: SENDER })
    const method = { type: 'pickup_point' }
    await connect('carrier_a', { labelMode: 'roll_160x100_pdf' })
    const variantId = await shop.variant({ shippable: true, weightGrams: 625 })
    const cart = await shop.cart([{ variantId, quantity: 2 }])
    made(await shop.patch(`/carts/${cart.id}`, { pickupPoint: { name: 'Długa 1, Gdańsk', id: 'GDA08M', note: 'hidden' } }))
    const { order } = made(
      await shop.checkOut(cart.id, {
        shippingMethodId: await shop.method({ addonName: 'carrier_a', ...method }),
        shippingAddress: { ...ADDRESS, company: 'Zażółć Sp. z o.o.', phone: '+48 500 600 700' },
      }),
    )
    const shipment = made(await ship(order.id))
    expect(await wordsOf((await print(shipment)).bytes)).toEqual([
      'Carrier A',
      'pickup point',
      `Order ${order.orderNumber}`,
      shipment.createdAt.slice(0, 10),
      'From',
      'Atelier Nord',
      'ul. Świętojańska 12/4',
      '81-368 Gdynia',
      'PL POLAND',
      '1.25 kg',
      'To',
      'Ada Lovelace',
      'Zażółć Sp. z o.o.',
      'Długa 1',
      '80-831 Gdańsk',
      'PL POLAND',
      '+48 500 600 700',
      'Pickup point',
      'GDA08M',
      'Długa 1, Gdańsk',
      shipment.label.number,
    ])
  })

  test.each([
    ['Polish', 'Żaneta Gżegżółka ĄĆĘŁŃÓŚŹŻ', 'ąćęłńóśźż'],
    ['German', 'Jürgen Großmann ÄÖÜẞ', 'äöüß'],
    ['Cyrillic', 'Юлия Ёлкина Щъыэ', 'Київ ґєії'],
    ['Greek', 'Ελένη Παπαδοπούλου', 'Αθήνα'],
    ['French and Turkish', 'Çağrı Œuvré', 'İstanbul ğşı'],
    ['Vietnamese', 'Nguyễn Thị Hồng', 'Đường Lê Lợi'],
  ])('%s letters come out as they are', async (_, name, city) => {
    const all = await words({ address: { ...ADDRESS, name, city } })
    expect(all).toContain(name)
    expect(all).toContain(`80-831 ${city}`)
  })

  test('what the font lacks is transliterated; what is not seen is not there', async () => {
    const all = await words({ address: { ...ADDRESS, name: '東京 山田', line1: '\u202eevil\u200b 5\u2066 \ufeff', city: 'שלום' } })
    expect(all).toContain('DongJing ShanTian')
    expect(all).toContain('evil 5')
    expect(all.join('')).not.toMatch(/[^\p{Script=Latin}\p{Script=Common}]/u)
  })

  test('addresses put the postal code where their country does', async () => {
    const address = { name: 'Ada', line1: '1000 SW Broadway', city: 'Portland', state: 'OR', postalCode: '97205', country: 'US' }
    const all = await words({ address })
    expect(all).toEqual(expect.arrayContaining(['Portland OR 97205', 'US UNITED STATES']))
  })

  test('a tracking number that is no barcode stands beside it', async () => {
    const all = await words({}, { trackingNumber: 'Łódź 7' })
    expect(all).toContain('Tracking: Łódź 7')
  })

  test('the longest of names and addresses stay inside, and no line is lost', async () => {
    const long = (word: string, length = 199) => `${word} `.repeat(60).slice(0, length).trim()
    const address = {
      name: long('Name'),
      company: 'X'.repeat(200),
      line1: long('Street'),
      line2: 'W'.repeat(200),
      city: long('City', 99),
      state: long('State', 99),
      postalCode: '12345',
      country: 'US',
      phone: '+1 503 555 0100',
    }
    await shop.settings({ address })
    await connect('carrier_a', { labelMode: 'roll_160x100_pdf' })
    const [page] = await readPdf((await print(made(await ship((await ordered('carrier_a', { address })).id)))).bytes)
    const right = page!.texts.filter(({ x }) => x === 62).map(({ text }) => text)
    for (const start of ['Name', 'XXX', 'Street', 'WWW', 'City', 'US UNITED', '+1 503'])
      expect(
        right.some((text) => text.startsWith(start)),
        start,
      ).toBe(true)
    for (const { text, x, width, y } of page!.texts) {
      expect(x + width, text).toBeLessThanOrEqual(x === 4 && y > 18 ? 58 : 156.1)
      expect(y, text).toBeLessThan(97)
    }
  })

  test.each([
    ['zpl', 'roll_160x100_printer_a', '^XZ^XA^FDevil^FS~JR^XZ'],
    ['epl', 'roll_160x100_printer_a_epl', '"\nN\nA50,0,0,1,1,1,N,"evil"\nP1\n^default'],
    ['dpl', 'roll_160x100_printer_b', '\u0002\u0001#\r\u0002L\r1911A evil\rE\r\u0002KF'],
  ] as const)('commands in names and addresses are no commands in %s', async (language, labelMode, evil) => {
    const flat = evil.replace(/\p{Cc}+/gu, ' ')
    const name = `${evil} Müller`
    await connect('carrier_a', { labelMode })
    await shop.settings({ name: flat, address: { line1: flat, city: flat } })
    const order = await ordered('carrier_a', {
      address: { ...ADDRESS, name: flat, line1: flat, city: flat },
      method: { addonData: { service: evil } },
    })
    await app.handles.use(shop.store.id, 'live', (handle) =>
      handle.write(async (tx) => {
        await tx.run(
          sql`update orders set name = ${name}, shipping_address = json_set(shipping_address, '$.name', ${name}), pickup_point = ${JSON.stringify({ id: evil, name: evil })}`,
        )
      }),
    )
    const { bytes, status } = await print(made(await ship(order.id)))
    expect(status).toBe(200)
    // The readers throw on anything beside one picture.
    const { dots } = READERS[language](bytes)
    expect(dots.flat().filter(Boolean).length).toBeGreaterThan(20_000)
    expect(bytes.toString('latin1')).not.toContain('evil')
  })
})

describe('labels that can not be shipped', () => {
  const WARNING = 'TEST – SAMPLE – NOT FOR SHIPPING'

  test('say so when they are made with test credentials', async () => {
    await connect('carrier_a', { environment: 'test', labelMode: 'roll_160x100_pdf' })
    const shipment = made(await ship((await ordered('carrier_a')).id))
    expect(shipment.label.environment).toBe('test')
    expect(await wordsOf((await print(shipment)).bytes)).toContain(WARNING)
    await connect('carrier_a')
    expect(await wordsOf((await print(shipment)).bytes)).toContain(WARNING)
    const live = made(await ship((await ordered('carrier_a')).id))
    expect(live.label.environment).toBe('live')
    expect(await wordsOf((await print(live)).bytes)).not.toContain(WARNING)
  })

  test('say so in the sandbox', async () => {
    const options = { key: shop.keys.staging }
    await connect('carrier_a', { environment: 'test', labelMode: 'roll_160x100_printer_a' }, options)
    const methodId = made(await shop.post('/shipping', { name: 'A', type: 'courier', price: 1, addonName: 'carrier_a' }, options)).id
    const product = made(
      await shop.post('/products', { name: 'Thing', status: 'published', variants: [{ price: 1, stock: { quantity: 5 } }] }, options),
    )
    const order = made(
      await shop.post(
        '/orders',
        {
          customer: { email: 'ada@example.com', name: 'Ada' },
          items: [{ variantId: product.variants[0].id }],
          shippingMethodId: methodId,
          shippingAddress: ADDRESS,
          paid: true,
        },
        options,
      ),
    )
    const shipment = made(await ship(order.id, {}, options))
    expect(shipment.label.environment).toBe('test')
    const dots = turnedBack(READERS.zpl((await print(shipment, shop.keys.staging)).bytes).dots)
    // The band is black from edge to edge, but for its letters.
    const band = dots.slice(61 * 8, 62 * 8)
    expect(band.every((row) => row.slice(4 * 8, 156 * 8).every(Boolean))).toBe(true)
    expect(await barcodes(dots)).toEqual([shipment.label.number])
    made(
      await shop.call(
        'PUT',
        '/addons/carrier_a',
        connecting(carriers, 'carrier_a', { environment: 'test', labelMode: 'roll_160x100_pdf' }),
        options,
      ),
    )
    expect(await wordsOf((await print(shipment, shop.keys.staging)).bytes)).toContain(WARNING)
  })
})

describe('parcels of carrier_b', () => {
  const flat = { length: 300, width: 200, height: 30 }
  const shipped = async (order: object, body: object = {}, fallbackTemplate?: string) => {
    await connect('carrier_b', fallbackTemplate ? { fallbackTemplate } : {})
    return ship((await ordered('carrier_b', order)).id, body)
  }

  test('have an A6 label, with their size', async () => {
    const shipment = made(await shipped({ variant: { dimensionsMm: flat } }))
    const { type, bytes } = await print(shipment)
    expect([shipment.label.template, type]).toEqual(['small', 'application/pdf'])
    const [page] = await readPdf(bytes)
    expect([page!.width, page!.height]).toEqual([148, 105])
    expect(page!.texts.map(({ text }) => text)).toContain('Size: small')
  })

  test('are as large as is said, else as the products, else as the fallback says', async () => {
    expect(made(await shipped({ variant: { dimensionsMm: flat } }, { template: 'large' }, 'medium')).label.template).toBe('large')
    expect(made(await shipped({ variant: { dimensionsMm: flat }, quantity: 3 }, {}, 'large')).label.template).toBe('medium')
    expect(made(await shipped({}, {}, 'large')).label.template).toBe('large')
    expect(paths(await shipped({}, { template: 'huge' }))).toEqual(['template'])
  })

  test('of unknown size are 409, and nothing has shipped', async () => {
    const refused = await shipped({})
    expect([refused.status, refused.body.hint]).toEqual([409, 'template is one of small, medium, large'])
    const order = made(await shop.get('/orders')).data[0]
    expect([order.status, order.lines[0].shippedQuantity]).toEqual(['paid', 0])
    expect(made(await ship(order.id, { template: 'small' })).label.template).toBe('small')
  })

  test.each([
    [[], null],
    [[{ quantity: 1, size: null }], null],
    [[{ quantity: 1, size: { length: 640, width: 380, height: null } }], null],
    [[{ quantity: 1, size: { length: 640, width: 380, height: 80 } }], 'small'],
    [[{ quantity: 1, size: { length: 80, width: 640, height: 380 } }], 'small'],
    [[{ quantity: 1, size: { length: 640, width: 380, height: 81 } }], 'medium'],
    [[{ quantity: 2, size: { length: 600, width: 300, height: 95 } }], 'medium'],
    [[{ quantity: 2, size: { length: 600, width: 300, height: 96 } }], 'large'],
    [
      [
        { quantity: 1, size: { length: 600, width: 100, height: 10 } },
        { quantity: 1, size: { length: 100, width: 380, height: 70 } },
      ],
      'small',
    ],
    [[{ quantity: 1, size: { length: 641, width: 10, height: 10 } }], null],
    [[{ quantity: 1, size: { length: 500, width: 411, height: 411 } }], null],
    [
      [
        { quantity: 1, size: { length: 10, width: 10, height: 10 } },
        { quantity: 1, size: null },
      ],
      null,
    ],
  ] as const)('of %j the size is %s', (units, template) => {
    expect(templateFor(units)).toBe(template)
  })
})

test('carrier_c prints 6 by 4 inches, with the service that its data name', async () => {
  await app.handles.use(shop.store.id, 'live', (handle) =>
    handle.write(async (tx) => {
      await tx.run(
        sql`insert into addons (id, name, config, created_at, updated_at) values (${Bun.randomUUIDv7()}, 'carrier_c', '{}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
      )
    }),
  )
  const order = await ordered('carrier_c', { method: { addonData: { id: '7', name: 'Priority', service: 'Priority Mail' } } })
  const shipment = made(await ship(order.id))
  const [page] = await readPdf((await print(shipment)).bytes)
  expect([page!.width, page!.height]).toEqual([152.4, 101.6])
  expect(page!.texts.map(({ text }) => text)).toEqual(expect.arrayContaining(['Carrier C', 'Priority Mail', shipment.label.number]))
})

test('numbers made from ids are 20 digits that check themselves, and texts of 40 printable characters can be barcodes', () => {
  const numbers = Array.from({ length: 200 }, () => numberOf(Bun.randomUUIDv7()))
  for (const number of numbers) expect([/^\d{20}$/.test(number), BigInt(number) % 97n]).toEqual([true, 1n])
  expect(new Set(numbers).size).toBe(200)
  expect([isBarcodable('a'.repeat(40)), isBarcodable('a'.repeat(41)), isBarcodable(''), isBarcodable(' '), isBarcodable('ł')]).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})
