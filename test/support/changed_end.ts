/** A text in base64url with two other characters at its end. */
export const changedEnd = (text: string): string =>
  text.replace(/..$/, (end) => (end === 'AA' ? 'BA' : 'AA'))
