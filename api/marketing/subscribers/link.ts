/** Where a reader of a mail confirms a subscription, or ends it. */
export const subscriberLink = (baseUrl: string, page: 'unsubscribe' | 'confirm', token: string) =>
  `${baseUrl}/api/v1/subscribers/${page}/${token}`
