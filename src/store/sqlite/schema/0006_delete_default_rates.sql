-- Default rates are no longer stored: production would have used the sandbox's rates.
DELETE FROM rates WHERE NOT EXISTS (
  SELECT 1 FROM operator_log
  WHERE action = 'set_rate' AND substr(subject, 1, length(currency) + 1) = currency || ' '
);
