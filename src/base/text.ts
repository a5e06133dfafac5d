/**
 * Lengths of texts. They count code points, as partners are promised (gateway/README.md).
 */

/** A text of at most as many UTF-16 units has no more code points. */
export const isWithin = (text: string, most: number): boolean =>
  text.length <= most || [...text].length <= most
