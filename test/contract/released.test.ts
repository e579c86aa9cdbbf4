/** Within `/api/v1` the API only grows: what a client of the last release knows, it finds again (document 1, Versioning; document 8, SDK). */
import { describe, expect, test } from 'vitest'
import { Page, Type, Uuid } from '../../api/http/schema.ts'
import { resource } from '../../api/http/route.ts'
import { broken, documentWith, released } from './released.ts'
import type { Json } from './operations.ts'

const last = await released()
const now = documentWith()

describe('what the last release described', () => {
  test('is there still, by the same names, with the same examples', () => {
    expect(broken(last, now)).toEqual([])
  })

  test('keeps its names whatever is added', () => {
    const Coupon = Type.Object({ id: Uuid(), coat: Type.String() }, { $id: 'CoatCoupon' })
    const more = resource('catalog', '/coats')
      .get('', { operationId: 'listCoupon', summary: 'List', scope: 'public', responses: { 200: Page(Coupon) } }, () => null as never)
      .get('/{id}', { operationId: 'readCoupon', summary: 'Read', scope: 'public', responses: { 200: Coupon } }, () => null as never)
    const grown = documentWith(more.routes)
    expect(new Set(Object.keys(grown.components.schemas))).toEqual(new Set([...Object.keys(now.components.schemas), 'CoatCoupon']))
    expect(broken(now, grown)).toEqual([])
    expect(broken(grown, now)).toContain('get /coats is gone')
  })

  const coupon = (document: Json) => document.components.schemas.Coupon
  const input = (document: Json) => document.components.schemas.CouponInput
  const create = (document: Json) => document.paths['/coupons'].post
  test.each<[string, (document: Json) => unknown]>([
    ['get /coupons is gone', (document) => delete document.paths['/coupons'].get],
    ['post /coupons is now marketing addCoupon', (document) => (create(document).operationId = 'addCoupon')],
    ['post /coupons needs store:admin', (document) => (create(document)['x-scopes'] = ['store:admin'])],
    ['post /coupons never answers 201', (document) => delete create(document).responses[201]],
    ['Coupon is gone', (document) => delete document.components.schemas.Coupon],
    ['Coupon.code is gone', (document) => delete coupon(document).properties.code],
    ['Coupon.code has the type string,null', (document) => (coupon(document).properties.code.type = ['string', 'null'])],
    ['Coupon.type can not be percentage', (document) => coupon(document).properties.type.enum.splice(0, 1)],
    ['Coupon needs other fields: ', (document) => (coupon(document).required = [])],
    ['CouponInput needs other fields: maxUses', (document) => (input(document).required = ['maxUses'])],
    ['CouponInput.code has the maxLength 2', (document) => (input(document).properties.code.maxLength = 2)],
    ['get /coupons query limit is gone', (document) => document.paths['/coupons'].get.parameters.splice(0, 1)],
    [
      'post /coupons application/json has another example',
      ({ paths }) => {
        delete paths['/coupons'].post.requestBody.content['application/json'].example.code
      },
    ],
  ])('is missed when %s', (problem, change) => {
    const changed = structuredClone(now)
    change(changed)
    expect(broken(now, changed)).toContain(problem)
  })

  test('may take more and say more', () => {
    const grown = structuredClone(now)
    input(grown).properties.code.maxLength++
    input(grown).properties.note = { type: 'string' }
    coupon(grown).properties.note = { type: 'string' }
    coupon(grown).required.push('note')
    coupon(grown).properties.type.enum.push('present')
    create(grown)['x-scopes'].push('store:admin')
    create(grown).responses[201].content['application/json'].example.note = 'Thanks'
    expect(broken(now, grown)).toEqual([])
  })
})
