/** Account numbers kept in plain text: only for their own place, and a bounded number. */
import t from 'tap'
import { createOpenedAccounts, OPENED_MAX } from '../../src/processor/keys/opened_accounts.js'
import { createWorld } from '../support/world.js'

void t.test('a number is found by its encrypted text and place together', async (t) => {
  const opened = createOpenedAccounts()
  opened.keep('sealed', 'beneficiaries.sealed_account.ben_1', '0011')
  t.equal(opened.get('sealed', 'beneficiaries.sealed_account.ben_1'), '0011')
  t.equal(opened.get('sealed', 'beneficiaries.sealed_account.ben_2'), undefined)
  t.equal(opened.get('other', 'beneficiaries.sealed_account.ben_1'), undefined)
})

void t.test('the oldest numbers are dropped', async (t) => {
  const opened = createOpenedAccounts()
  for (let number = 0; number <= OPENED_MAX; number += 1) opened.keep(`${number}`, 'place', 'a')
  t.equal(opened.get('0', 'place'), undefined)
  t.equal(opened.get('1', 'place'), 'a')
})

void t.test(
  'the vault opens a kept number in no other place, and none that it cannot',
  async (t) => {
    const { vault } = await createWorld(t)
    const [place, other] = ['beneficiaries.sealed_account.ben_1', 'intents.account.pi_1']
    const sealed = vault.sealAccount('0011', place)
    for (const _ of [1, 2]) {
      t.equal(vault.openAccount(sealed, place), '0011')
      t.throws(() => vault.openAccount(sealed, other), /opens with a master key/)
      t.throws(
        () => vault.openAccount(`${sealed.slice(0, -2)}AA`, place),
        /opens with a master key/,
      )
    }
    const again = vault.reencryptAccount(sealed, place)
    t.not(again, sealed)
    t.equal(vault.openAccount(again, place), '0011')
  },
)
