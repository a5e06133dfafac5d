/** The header names of an installation, in prose and in programs. */
export const branded = (text: string, brand: string): string =>
  text.replaceAll('X-Service-', `X-${brand}-`).replaceAll('x-service-', `x-${brand.toLowerCase()}-`)
