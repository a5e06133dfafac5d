-- The steps of a move between two owners. `begun_at`: the owner of the shard that is left is ready.
-- `held_epoch` and `held_batch`: the owner of the other shard commits nothing after this batch
-- before the move has ended.
ALTER TABLE partner_moves ADD COLUMN begun_at bigint;
ALTER TABLE partner_moves ADD COLUMN held_epoch bigint;
ALTER TABLE partner_moves ADD COLUMN held_batch bigint;
