/** A view that is already JSON text, for transports that answer in JSON. */
export class RawJson {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}

export const jsonOf = (view: object): string =>
  view instanceof RawJson ? view.json : JSON.stringify(view)

export const objectOf = (view: object): object =>
  view instanceof RawJson ? (JSON.parse(view.json) as object) : view
