/** What the checks can come to, with what it is worth (Mozilla's HTTP Observatory, algorithm 4) and what to do about it. */

export interface Outcome {
  /** Points; below 0 a fault. */
  modifier: number
  /** Null: by its points, all but faults pass. */
  pass?: boolean
  /** What was found, in words. */
  result: string
  /** What to do; null where there is nothing to be done. */
  recommendation: string | null
}

const CSP_ADVICE =
  'Name in a Content-Security-Policy what the page needs, scripts by nonce or hash. Send it as Content-Security-Policy-Report-Only first, until its reports are quiet: a policy that forgets something breaks the page.'
const good = (modifier: number, result: string): Outcome => ({ modifier, result, recommendation: null })
const bad = (modifier: number, result: string, recommendation: string): Outcome => ({ modifier, result, recommendation })

export const OUTCOMES = {
  'content-security-policy': {
    'none-by-default': good(10, "The policy begins with default-src 'none' and allows nothing unsafe."),
    safe: good(5, 'The policy allows nothing unsafe.'),
    'repeated-reports': good(0, 'The policy is safe, and says twice where reports go: the first counts.'),
    'unsafe-styles': {
      ...bad(0, "The policy is safe but for 'unsafe-inline' in styles.", 'Allow inline styles by nonce or hash.'),
      pass: true,
    },
    'insecure-passive': {
      ...bad(-10, 'The policy lets images or media come over http.', 'Name https sources alone.'),
      pass: true,
    },
    'unsafe-eval': bad(-10, "The policy allows 'unsafe-eval'.", "Remove 'unsafe-eval' from scripts and styles."),
    'unsafe-inline': bad(
      -20,
      'The policy allows inline scripts, data: or whole schemes for scripts or objects, or leaves them open.',
      CSP_ADVICE,
    ),
    'insecure-active': bad(-20, 'The policy lets scripts or other active content come over http.', 'Name https sources alone.'),
    invalid: bad(-25, 'The policy is not a valid one.', CSP_ADVICE),
    absent: bad(-25, 'There is no Content-Security-Policy.', CSP_ADVICE),
    'report-only': bad(-25, 'The policy reports and enforces nothing.', 'Send it as Content-Security-Policy once its reports are quiet.'),
  },
  'strict-transport-security': {
    preloaded: good(5, 'Browsers know by a list of theirs that this host is https alone.'),
    long: good(0, 'Browsers remember for at least six months that this host is https alone.'),
    short: bad(-10, 'Browsers remember for less than six months that this host is https alone.', 'Set max-age to 63072000.'),
    absent: bad(-20, 'There is no Strict-Transport-Security.', 'Send Strict-Transport-Security: max-age=63072000; includeSubDomains.'),
    invalid: bad(-20, 'Strict-Transport-Security is not valid.', 'Send it once, with max-age=63072000.'),
    'no-https': bad(-20, 'The page is not served over https.', 'Serve the shop over https, then send Strict-Transport-Security.'),
  },
  'x-frame-options': {
    policy: good(5, 'frame-ancestors of the policy says who may frame the page.'),
    set: good(0, 'Framing is refused or kept to this site.'),
    'allow-from': good(0, 'ALLOW-FROM is understood by old browsers alone.'),
    absent: bad(
      -20,
      'Any site may show this page in a frame of its own.',
      "Send X-Frame-Options: SAMEORIGIN, or frame-ancestors 'self' in the policy: editors of your own site go on working.",
    ),
    invalid: bad(
      -20,
      'X-Frame-Options is neither DENY nor SAMEORIGIN.',
      "Send X-Frame-Options: SAMEORIGIN once, or frame-ancestors 'self' in the policy.",
    ),
  },
  'x-content-type-options': {
    nosniff: good(0, 'Browsers keep to the types that are sent.'),
    absent: bad(-5, 'Browsers may guess the types of files.', 'Send X-Content-Type-Options: nosniff.'),
    invalid: bad(-5, 'X-Content-Type-Options has another value than nosniff.', 'Send X-Content-Type-Options: nosniff.'),
  },
  'referrer-policy': {
    private: good(5, 'Other sites are not told which page a visitor comes from.'),
    absent: {
      ...bad(0, 'Nothing is said; browsers send the origin to other sites.', 'Send Referrer-Policy: strict-origin-when-cross-origin.'),
      pass: true,
    },
    unsafe: bad(-5, 'Other sites may be told which page a visitor comes from.', 'Send Referrer-Policy: strict-origin-when-cross-origin.'),
    invalid: bad(-5, 'Referrer-Policy has no value that browsers know.', 'Send Referrer-Policy: strict-origin-when-cross-origin.'),
  },
  redirection: {
    https: good(0, 'http:// leads to https:// on the same host at once.'),
    preloaded: good(0, 'All hosts on the way are known to browsers as https alone.'),
    'no-http': good(0, 'Nothing answers over http.'),
    'other-host': bad(-5, 'http:// leads to another host first.', 'Redirect to https:// on the same host first, then elsewhere.'),
    'late-https': bad(-10, 'http:// leads to http:// first.', 'Redirect to https:// at once.'),
    'not-https': bad(-20, 'http:// leads to no https:// page.', 'Redirect http:// to https:// on the same host.'),
    missing: bad(-20, 'The page is served over http, and leads nowhere else.', 'Redirect http:// to https:// on the same host.'),
  },
  cookies: {
    none: good(0, 'The page sets no cookies.'),
    'same-site': good(5, 'All cookies are Secure and say SameSite, those of sessions are HttpOnly.'),
    secure: {
      ...bad(0, 'All cookies are Secure, those of sessions are HttpOnly; some do not say SameSite.', 'Set SameSite=Lax on all of them.'),
      pass: true,
    },
    'not-secure-hsts': bad(-5, 'A cookie is not Secure; Strict-Transport-Security protects it.', 'Set Secure on all cookies.'),
    'session-not-secure-hsts': bad(
      -10,
      'The cookie of a session is not Secure; Strict-Transport-Security protects it.',
      'Set Secure on it.',
    ),
    'not-secure': bad(-20, 'A cookie is not Secure.', 'Set Secure on all cookies.'),
    'same-site-invalid': bad(-20, 'A cookie has a SameSite that browsers refuse.', 'Set SameSite=Lax, or SameSite=None with Secure.'),
    'csrf-not-same-site': bad(-20, 'The cookie against forged requests does not say SameSite.', 'Set SameSite=Strict on that cookie.'),
    'session-not-http-only': bad(-30, 'Scripts can read the cookie of a session.', 'Set HttpOnly on the cookies of sessions.'),
    'session-not-secure': bad(
      -40,
      'The cookie of a session is sent over http.',
      'Set Secure on the cookies of sessions, once the shop is https alone.',
    ),
  },
  'cross-origin-resource-sharing': {
    none: good(0, 'Scripts of other sites can not read this page.'),
    public: good(0, 'Scripts of any site can read this page, as a stranger sees it.'),
    restricted: good(0, 'Scripts of certain sites can read this page.'),
    universal: bad(
      -50,
      'Scripts of any site can read this page as its visitor sees it.',
      'Allow credentials for origins alone that you name, never for whatever a request says.',
    ),
  },
  'subresource-integrity': {
    all: good(5, 'Scripts say what they have to be, those of this site too.'),
    external: good(5, 'Scripts of other sites say what they have to be.'),
    'not-html': good(0, 'The answer is no HTML.'),
    none: good(0, 'The page loads no scripts.'),
    own: good(0, 'All scripts are of this site.'),
    'external-without': bad(
      -5,
      'A script of another site does not say what it has to be.',
      'Add integrity to scripts of other sites that do not change. Those that their vendors change (consent, analytics, payment) can not have it.',
    ),
    'insecure-with': bad(-20, 'A script of another site comes over http.', 'Load scripts of other sites over https.'),
    'insecure-without': bad(
      -50,
      'A script comes over http or without a scheme, and may be anything.',
      'Write https:// in the addresses of scripts, also instead of // alone.',
    ),
  },
  'cross-origin-resource-policy': {
    'same-origin': good(10, 'Other sites can not embed what this one sends.'),
    'same-site': good(10, 'Sites of other owners can not embed what this one sends.'),
    'cross-origin': good(0, 'Any site may embed what this one sends.'),
    absent: {
      ...bad(
        0,
        'Any site may embed what this one sends.',
        'Send Cross-Origin-Resource-Policy: same-origin, where nobody else embeds your images.',
      ),
      pass: true,
    },
    invalid: bad(-5, 'Cross-Origin-Resource-Policy has no value that browsers know.', 'Send same-origin, same-site or cross-origin.'),
  },
  'cross-origin-embedder-policy': {
    set: good(0, 'The page embeds only what allows it.'),
    'unsafe-none': good(0, 'The page may embed anything.'),
    absent: good(0, 'The page may embed anything.'),
    invalid: { ...good(0, 'Cross-Origin-Embedder-Policy has no value that browsers know.'), pass: false },
  },
  'cross-origin-opener-policy': {
    set: good(0, 'Pages of other sites that open this one can not reach back into it.'),
    'unsafe-none': good(0, 'Pages that open this one can reach back into its window.'),
    absent: {
      ...bad(0, 'Pages that open this one can reach back into its window.', 'Send Cross-Origin-Opener-Policy: same-origin-allow-popups.'),
      pass: true,
    },
    invalid: { ...good(0, 'Cross-Origin-Opener-Policy has no value that browsers know.'), pass: false },
  },
} as const satisfies Record<string, Record<string, Outcome>>

export type CheckId = keyof typeof OUTCOMES
export type OutcomeOf<Id extends CheckId> = Extract<keyof (typeof OUTCOMES)[Id], string>
