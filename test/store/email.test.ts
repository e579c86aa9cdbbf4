import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isEmail, normalizeEmail } from '../../api/values/email.ts'
import { hostname } from '../../api/values/hostname.ts'

describe('an email address', () => {
  test.each([
    ['ada@example.com', 'plain'],
    ['a@b.co', 'short'],
    ['first.last+tag@sub.example.com', 'with a tag'],
    ["o'brien_{x}=y@example.com", 'with rarer characters'],
    ['ada@münchen.de', 'with a domain in another script'],
    ['用户@例子.公司', 'all in another script'],
    [`${'a'.repeat(64)}@example.com`, 'with a local part of 64 characters'],
  ])('%s is one (%s)', (text) => {
    expect(isEmail(text)).toBe(true)
  })

  test.each([
    ['', 'empty'],
    ['ada', 'no domain'],
    ['@example.com', 'no local part'],
    ['ada@', 'empty domain'],
    ['ada@localhost', 'domain without a dot'],
    ['a b@example.com', 'a space'],
    [' ada@example.com', 'a space before'],
    ['a@b@example.com', 'two @'],
    ['a..b@example.com', 'two dots'],
    ['ada@example..com', 'two dots in the domain'],
    ['ada@-x.com', 'a hyphen first'],
    ['ada@127.0.0.1', 'an address in digits'],
    ['ada@0x7f.1', 'an address in disguise'],
    ['ada@example.com/x', 'a path'],
    ['ada@exam%2eple.com', 'a percent escape'],
    ['ada@example.com:25', 'a port'],
    ['ada\r\nBcc: eve@example.com', 'a second header'],
    ['ada\u0001@example.com', 'a control character'],
    ['a\u200Bda@example.com', 'a character without width'],
    ['ada\u037Eeve@example.com', 'a Greek question mark, which NFC makes a semicolon'],
    [`${'a'.repeat(65)}@example.com`, 'a local part of 65 characters'],
    [`a@${'b'.repeat(64)}.com`, 'a label of 64 characters'],
    [`a@${'b'.repeat(60)}.${'b'.repeat(60)}.${'b'.repeat(60)}.${'b'.repeat(60)}.${'b'.repeat(60)}.com`, 'over 254 characters'],
  ])('%j is none (%s)', (text) => {
    expect(isEmail(text)).toBe(false)
  })
})

describe('the form in which addresses are compared', () => {
  test.each([
    ['A@X.com', 'a@x.com', 'case does not count'],
    ['  ada@example.com\n', 'ada@example.com', 'space around it does not count'],
    ['ÄDA@example.com', 'äda@example.com', 'case does not count beyond ASCII'],
    ['A\u0308da@example.com', 'äda@example.com', 'a letter and its mark are the letter'],
    ['ada@MÜNCHEN.de', 'ada@xn--mnchen-3ya.de', 'the domain is in ASCII'],
    ['ada@xn--mnchen-3ya.de', 'ada@xn--mnchen-3ya.de', 'the domain in ASCII stays'],
    ['Ada+News@example.com', 'ada+news@example.com', 'a tag is kept'],
    ['straße@example.com', 'straße@example.com', 'ß is not ss'],
  ])('%j is %s (%s)', (text, stored) => {
    expect(normalizeEmail(text)).toBe(stored)
  })

  test('İ is not i', () => {
    expect(normalizeEmail('İ@x.com')).not.toBe(normalizeEmail('i@x.com'))
  })

  test('normalising twice changes nothing, and an address stays one', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
        fc.constantFrom('X.com', 'BÜCHER.example', 'ΟΔΟΣ.gr'),
        (local, domain) => {
          const once = normalizeEmail(`${local}@${domain}`)
          expect(normalizeEmail(once)).toBe(once)
          if (isEmail(`${local}@${domain}`) && local.normalize('NFC').toLowerCase().normalize('NFC').length <= 64)
            expect(isEmail(once)).toBe(true)
        },
      ),
      { numRuns: 20_000 },
    )
  })
})

describe('a host name', () => {
  test.each([
    ['Mail.Example.COM', 'mail.example.com'],
    ['straße.de', 'xn--strae-oqa.de'],
    ['a-b.c1.io', 'a-b.c1.io'],
  ])('%s is %s', (text, host) => {
    expect(hostname(text)).toBe(host)
  })
  test.each([
    'https://example.com',
    'example.com/x',
    'example.com:80',
    'user@example.com',
    'example.com?x',
    'example',
    'example.com.',
    '.example.com',
    'exa mple.com',
    'a_b.com',
    '10.0.0.1',
    '127.1',
    '[::1]',
    '',
    'xn--a.com',
  ])('%j is none', (text) => {
    expect(hostname(text)).toBeNull()
  })
})
