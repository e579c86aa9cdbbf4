import { rmSync, writeFileSync } from 'node:fs'
import LibsqlFile from 'libsql'
import { afterAll, describe, expect, test } from 'vitest'
import { migrations } from '../../db/migrate.ts'
import { cleanUp, createStore, folder, stoa, stoaJson } from './processes.ts'

afterAll(cleanUp)

/** Inserts a row; what must not be null and is not given is empty. */
function insertInto(file: InstanceType<typeof LibsqlFile>, table: string, values: Record<string, unknown>) {
  const columns = file.prepare(`pragma table_info('${table}')`).all() as { name: string; type: string; notnull: number }[]
  const row = columns.filter((column) => column.notnull || column.name in values)
  const filled = row.map(({ name, type }) => values[name] ?? (type === 'INTEGER' ? 0 : ''))
  file.prepare(`insert into ${table} (${row.map(({ name }) => name)}) values (${row.map(() => '?')})`).run(filled as never)
}

/** Makes a store's database what it was under the first `version` migrations. */
function old(path: string, version: number) {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  const file = new LibsqlFile(path)
  for (const statement of migrations('store').slice(0, version).flat()) file.exec(statement)
  file.exec(`PRAGMA user_version = ${version}`)
  insertInto(file, 'settings', { id: 1, store_id: /store-(.{36})/.exec(path)![1] })
  file.close()
}

describe('stoa migrate', () => {
  test('brings every database up, reports those that it cannot, and can be run again', async () => {
    const dataDir = folder()
    const stores = []
    for (const name of ['One', 'Two', 'Three']) stores.push(await createStore(dataDir, name))
    expect(await stoaJson(dataDir, 'migrate')).toEqual({ migrated: 0, current: 7, failed: 0, failures: [] })

    const [one, two, three] = stores.map(({ id }) => `${dataDir}/store-${id}`)
    old(`${one}.db`, 1)
    old(`${three}-sandbox.db`, 1)
    writeFileSync(`${two}.db`, 'no database')
    rmSync(`${two}-sandbox.db`)
    const restore = `restore it: npm run -s stoa -- store restore ${stores[1]!.id} --from FILE`
    const failures = [
      { database: `store-${stores[1]!.id}`, error: `file is not a database; ${restore}` },
      { database: `store-${stores[1]!.id}-sandbox`, error: `the database store-${stores[1]!.id}-sandbox is missing; ${restore}` },
    ]
    const doctor = await stoa(dataDir, 'doctor')
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining("2 can't be used, such as store-")])
    const first = await stoa(dataDir, 'migrate', '--json')
    expect([first.code, JSON.parse(first.stdout)]).toEqual([1, { migrated: 2, current: 3, failed: 2, failures }])
    for (const { database, error } of failures) expect(first.stderr).toContain(`${database}: ${error}`)
    expect(JSON.parse((await stoa(dataDir, 'migrate', '--json')).stdout)).toEqual({ migrated: 0, current: 5, failed: 2, failures })
  })

  test('keeps what is there: folded names begin as SQLite can fold, refunds stay with their orders, images with who shows them', async () => {
    const dataDir = folder()
    const { id } = await createStore(dataDir, 'Old')
    const path = `${dataDir}/store-${id}.db`
    old(path, 2)
    const file = new LibsqlFile(path)
    const insert = (table: string, values: Record<string, unknown>) => insertInto(file, table, values)
    file.exec('PRAGMA foreign_keys = ON')
    const image = (environment: string, media: string) => `https://api.shop.example/cdn/${id}/${environment}/${media}/640.webp`
    const [media, other] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
    const images = JSON.stringify([image('live', media), 'https://cdn.example.com/a.png'])
    insert('products', { id: 'p', name: 'Oak TABLE', slug: 'oak', status: 'published', images })
    insert('products', { id: 'q', name: 'Ash', slug: 'ash', status: 'draft', images: '[]' })
    insert('brands', { id: 'b', name: 'Nord', slug: 'nord', logo: image('sandbox', other) })
    insert('customers', { id: 'a', email: 'ada@example.com' })
    insert('orders', {
      id: 'o',
      lookup: 1001,
      customer_id: 'a',
      name: 'Ada L',
      source: 'admin',
      status: 'paid',
      payment_status: 'paid',
      paid_cents: 5,
      total_cents: 5,
    })
    insert('refunds', { id: 'r', order_id: 'o', status: 'succeeded', amount_cents: 3 })
    insert('coupons', { id: 'c', code: 'SAVE', type: 'percentage', percentage: 5 })
    insert('shipping_methods', { id: 's', name: 'DHL', description: 'Fast', type: 'courier' })
    file.close()
    expect(await stoaJson(dataDir, 'migrate')).toMatchObject({ migrated: 1, failed: 0 })
    const after = new LibsqlFile(path)
    const one = (text: string) => after.prepare(text).raw(true).all()
    expect(one('select folded_name from products order by id')).toEqual([['oak table'], ['ash']])
    expect(one('select entity, entity_id, media_id from image_uses order by entity')).toEqual([
      ['brand', 'b', other],
      ['product', 'p', media],
    ])
    expect(one('select folded_name from orders')).toEqual([['ada l']])
    expect(one('select folded from coupons')).toEqual([['save']])
    expect(one('select folded from shipping_methods')).toEqual([['dhl\nfast']])
    expect(one('select id, order_id, amount_cents from refunds')).toEqual([['r', 'o', 3]])
    expect(one('pragma foreign_key_check')).toEqual([])
    expect(() => after.exec('update refunds set amount_cents = -1')).toThrow('refunds_amount')
    after.close()
  })

  test('keeps the points of members, whose table is built anew, and their ledgers', async () => {
    const dataDir = folder()
    const { id } = await createStore(dataDir, 'Old')
    const path = `${dataDir}/store-${id}.db`
    old(
      path,
      migrations('store').findIndex((statements) => statements.some((text) => text.includes('__old_loyalty_members'))),
    )
    const file = new LibsqlFile(path)
    file.exec(`PRAGMA foreign_keys = ON;
      insert into customers (id, email, created_at, updated_at) values ('a', 'ada@example.com', '', '');
      insert into loyalty_members values ('a', 70, 100, '', '');
      insert into loyalty_ledger (id, customer_id, points, reason, created_at, expires_at, expiring) values ('1', 'a', 100, '', '', '2027', 70);
      insert into loyalty_ledger (id, customer_id, points, reason, created_at) values ('2', 'a', -30, '', '')`)
    file.close()
    expect(await stoaJson(dataDir, 'migrate')).toMatchObject({ migrated: 1, failed: 0 })
    const after = new LibsqlFile(path)
    const all = (text: string) => after.prepare(text).raw(true).all()
    expect(all('select balance, lifetime_points from loyalty_members')).toEqual([[70, 100]])
    expect(all('select id, points, expires_at, expiring from loyalty_ledger order by id')).toEqual([
      ['1', 100, '2027', 70],
      ['2', -30, null, 0],
    ])
    expect(all('pragma foreign_key_check')).toEqual([])
    // A balance may be below zero now; the ledger still goes with its member, and with nobody else.
    after.exec("PRAGMA foreign_keys = ON; update loyalty_members set balance = -1; delete from customers where id = 'a'")
    expect(all('select count(*) from loyalty_ledger')).toEqual([[0]])
    after.close()
  })

  test('lets what waited for its money before wait on, and sees to it that somebody looks', async () => {
    const dataDir = folder()
    const { id } = await createStore(dataDir, 'Old')
    const path = `${dataDir}/store-${id}.db`
    old(
      path,
      migrations('store').findIndex((statements) => statements.some((text) => text.includes('awaiting_since'))),
    )
    const file = new LibsqlFile(path)
    const insert = (table: string, values: Record<string, unknown>) => {
      const columns = file.prepare(`pragma table_info('${table}')`).all() as { name: string; type: string; notnull: number }[]
      const known = columns.filter((column) => column.notnull || column.name in values).map(({ name }) => name)
      const filled = known.map((name) => values[name] ?? (columns.find((column) => column.name === name)!.type === 'INTEGER' ? 0 : ''))
      file.prepare(`insert into ${table} (${known}) values (${known.map(() => '?')})`).run(filled as never)
    }
    file.prepare('update settings set checkout = ?').run(['{"requirePhone":true,"guestCheckout":true,"cartTtlDays":9}'])
    insert('customers', { id: 'a', email: 'ada@example.com' })
    const order = { customer_id: 'a', source: 'storefront', payment_status: 'unpaid', created_at: '2020-01-01T00:00:00.000Z' }
    insert('orders', { ...order, id: 'hand', access_code: '1', lookup: 1, status: 'pending', cart_id: 'c1' })
    insert('orders', { ...order, id: 'stripe', access_code: '2', lookup: 2, status: 'pending', cart_id: 'c2' })
    insert('orders', { ...order, id: 'recorded', access_code: '3', lookup: 3, status: 'pending' })
    insert('orders', { ...order, id: 'paid', access_code: '4', lookup: 4, status: 'paid', cart_id: 'c4' })
    for (const [orderId, method, provider] of [
      ['hand', 'manual'],
      ['stripe', 'stripe', 'pi_1'],
      ['paid', 'stripe', 'pi_2'],
    ])
      insert('payments', {
        id: `p ${orderId}`,
        order_id: orderId,
        method,
        status: 'pending',
        ...(provider ? { provider_id: provider } : {}),
      })
    file.close()
    expect(await stoaJson(dataDir, 'migrate')).toMatchObject({ migrated: 1, failed: 0 })
    const after = new LibsqlFile(path)
    const all = (text: string) => after.prepare(text).raw(true).all()
    const since = order.created_at
    expect(all('select id, awaiting, awaiting_since from orders order by lookup')).toEqual([
      ['hand', 'hand', since],
      ['stripe', 'stripe', since],
      ['recorded', null, null],
      ['paid', null, null],
    ])
    expect(all('select kind, subject, attempts, lease_token, failed_at from jobs')).toEqual([['orders.unpaid', 'all', 0, null, null]])
    expect(JSON.parse((all('select checkout from settings') as string[][])[0]![0]!)).toEqual({
      requirePhone: true,
      guestCheckout: true,
      cartTtlDays: 9,
      unpaidHours: 168,
    })
    after.close()
  })

  test('a database of a newer release is left alone', async () => {
    const dataDir = folder()
    const { id } = await createStore(dataDir, 'New')
    const file = new LibsqlFile(`${dataDir}/store-${id}.db`)
    file.exec('PRAGMA user_version = 1000')
    file.close()
    expect(JSON.parse((await stoa(dataDir, 'migrate', '--json')).stdout)).toMatchObject({
      failed: 1,
      failures: [{ error: expect.stringContaining('newer release') }],
    })
  })
})
