/** The mark: an arcade that grows, in a square of 32. Three arches stand on one floor, each open below. */
export const MARK =
  'M2 28V20a4 4 0 0 1 8 0v8H8v-8a2 2 0 0 0-4 0v8zM11 28V15a4 4 0 0 1 8 0v13h-2V15a2 2 0 0 0-4 0v13zM20 28V9a5 5 0 0 1 10 0v19h-3V9a2 2 0 0 0-4 0v19z'
