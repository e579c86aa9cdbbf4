import { expect, test } from 'vitest'
import type { Settings } from '../../api/http/route.ts'
import { senderOf } from '../../api/store/mails/sender.ts'

const BASE = 'https://api.stoa.example:8443'
const from = (email: object, emailDomainVerified: boolean, contactEmail: string | null = null) => {
  const settings = {
    name: 'Atelier',
    emailDomainVerified,
    contactEmail,
    email: { fromName: null, fromAddress: null, domain: null, ...email },
  }
  const { from: sender, replyTo } = senderOf(settings as never as Settings, BASE)
  return [sender.address, replyTo]
}
const domain = 'shop.example'

test.each([
  ['its own address at its verified domain', { domain, fromAddress: 'hi@shop.example' }, true, ['hi@shop.example', undefined]],
  ['one at a part of it', { domain, fromAddress: 'hi@Mail.Shop.example' }, true, ['hi@Mail.Shop.example', undefined]],
  ['no address of somebody else', { domain, fromAddress: 'ceo@bank.example' }, true, ['no-reply@shop.example', 'ceo@bank.example']],
  ['nor one that only ends alike', { domain, fromAddress: 'ceo@notshop.example' }, true, ['no-reply@shop.example', 'ceo@notshop.example']],
  [
    'none at a domain that is not verified',
    { domain, fromAddress: 'hi@shop.example' },
    false,
    ['no-reply@api.stoa.example', 'hi@shop.example'],
  ],
  ['what the operator has verified without a domain', { fromAddress: 'hi@shop.example' }, true, ['hi@shop.example', undefined]],
  ['an address at the domain when none is set', { domain }, true, ['no-reply@shop.example', undefined]],
])('a store sends from %s', (_, email, verified, expected) => {
  expect(from(email, verified)).toEqual(expected)
})

test('answers go to the contact address', () => {
  expect(from({ domain, fromAddress: 'hi@shop.example' }, true, 'help@shop.example')[1]).toBe('help@shop.example')
})
