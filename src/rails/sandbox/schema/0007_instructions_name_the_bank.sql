-- The code of the payee's bank, which a report names. Empty: the payee is a proxy, which names none. Null: the
-- instruction came before this was kept, and its report names no bank.
ALTER TABLE instructions ADD COLUMN bank_code TEXT;
