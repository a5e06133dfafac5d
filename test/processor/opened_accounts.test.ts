/** Account numbers kept in plain text: only for their own field, and a bounded number. */
import t from 'tap'
import { createOpenedAccounts, OPENED_MAX } from '../../src/processor/keys/opened_accounts.js'
import { changedEnd } from '../support/changed_end.js'
import { createWorld } from '../support/world.js'

t.test('a number is found by its encrypted text and field together', async (t) => {
  const opened = createOpenedAccounts()
  opened.keep('sealed', 'beneficiaries.sealed_account.ben_1', '0011')
  t.equal(opened.get('sealed', 'beneficiaries.sealed_account.ben_1'), '0011')
  t.equal(opened.get('sealed', 'beneficiaries.sealed_account.ben_2'), undefined)
  t.equal(opened.get('other', 'beneficiaries.sealed_account.ben_1'), undefined)
})

t.test('the oldest numbers are dropped', async (t) => {
  const opened = createOpenedAccounts()
  for (let number = 0; number <= OPENED_MAX; number += 1) opened.keep(`${number}`, 'field', 'a')
  t.equal(opened.get('0', 'field'), undefined)
  t.equal(opened.get('1', 'field'), 'a')
})

t.test('the vault opens a kept number in no other field, and none that it cannot', async (t) => {
  const { vault } = await createWorld(t)
  const [field, other] = ['beneficiaries.sealed_account.ben_1', 'intents.account.pi_1']
  const sealed = vault.sealAccount('0011', field)
  for (const _ of [1, 2]) {
    t.equal(vault.openAccount(sealed, field), '0011')
    t.throws(() => vault.openAccount(sealed, other), /opens with a master key/)
    t.throws(() => vault.openAccount(changedEnd(sealed), field), /opens with a master key/)
  }
  const again = vault.reencryptAccount(sealed, field)
  t.not(again, sealed)
  t.equal(vault.openAccount(again, field), '0011')
})
