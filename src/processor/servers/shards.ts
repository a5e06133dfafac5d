/** The operators' calls about shards. */
import type { ShardsHandlers } from '../../../protos/types/causeway/operator/v1/Shards.js'
import type { DirectoryService } from './directory_stream.js'

export const shardsService = (directory: Pick<DirectoryService, 'own'>): ShardsHandlers => ({
  Show: (_, callback) => callback(null, directory.own()),
})
