import { expect, test } from 'vitest'
import { Clients } from '../../api/server/client-address.ts'

const clients = new Clients(['127.0.0.1', '10.0.0.0/8'])
const nameOf = (forwardedFor: string | null, peer = '127.0.0.1') => clients.nameOf(peer, forwardedFor)

test.each([
  '1.2.3.4',
  '1.2.3.4:5678',
  '::ffff:1.2.3.4',
  '0:0:0:0:0:ffff:1.2.3.4',
  '::ffff:102:304',
  '[::ffff:1.2.3.4]:99',
  '9.9.9.9, 1.2.3.4, 10.1.1.1',
])('%s is the client 1.2.3.4', (forwardedFor) => {
  expect(nameOf(forwardedFor)).toBe('1.2.3.4')
})

test.each([
  '2001:db8:1:2::1',
  '[2001:db8:1:2::1]',
  '[2001:db8:1:2::1]:443',
  '2001:0db8:0001:0002:ffff:ffff:ffff:ffff',
  '2001:db8:1:2::5%eth0',
])('%s is the network 2001:db8:1:2', (forwardedFor) => {
  expect(nameOf(forwardedFor)).toBe('2001:db8:1:2::/64')
})

test('what is no address ends the list', () => {
  for (const forwardedFor of [null, '', 'nobody', '1.2.3', '1', '1.2.3.4.5', `${'1'.repeat(8_000)}:1`])
    expect(nameOf(forwardedFor)).toBe('127.0.0.1')
  expect(nameOf('1.2.3.4', '8.8.8.8')).toBe('8.8.8.8')
})

test('a visitor is told apart from a server of ours, and from whoever speaks for itself', () => {
  const isForwarded = (forwardedFor: string | null, peer = '127.0.0.1') => clients.isForwarded(peer, forwardedFor)
  expect([isForwarded('1.2.3.4'), isForwarded('1.2.3.4, 10.0.0.5'), isForwarded('2001:db8::1')]).toEqual([true, true, true])
  // A storefront's server that says nothing of its visitors, behind a proxy or not.
  expect([isForwarded('10.0.0.5'), isForwarded(null), isForwarded('nobody')]).toEqual([false, false, false])
  expect(isForwarded('1.2.3.4', '8.8.8.8')).toBe(false)
})
