-- How a statement names the payment: the payout's reference, or the biller's of a QR code. Null: the
-- instruction came before this was kept.
ALTER TABLE instructions ADD COLUMN reference TEXT;
