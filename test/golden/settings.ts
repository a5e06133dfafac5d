/** The settings of a stack that makes or opens a frozen DATA_DIR. */

/** Webhooks go to this machine; a stack with production hosts rejects that by default. */
export const SANDBOX_SETTINGS = { WEBHOOK_ALLOW_PRIVATE: 'true' }

export const PRODUCTION_HOST = 'api.production.localhost'
/** The second tenant uses the sandbox rail too. */
export const PRODUCTION_SETTINGS = {
  PRODUCTION_HOSTS: PRODUCTION_HOST,
  WEBHOOK_ALLOW_PRIVATE: 'false',
  ALLOW_SANDBOX_RAIL_IN_PRODUCTION: 'yes',
}
