import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type RegistrationVectors, registrationVectorsPath } from '../support/protocol-vectors.js';
import { base64Cases } from './registration-cases/base64-cases.js';
import { fieldCases } from './registration-cases/field-cases.js';
import { jsonCases } from './registration-cases/json-cases.js';
import { nowSeconds, relayKey, secondRelayKey, strangerKey } from './registration-cases/registration-case.js';
import { sealedBoxCases } from './registration-cases/sealed-box-cases.js';
import { timestampCases } from './registration-cases/timestamp-cases.js';

/**
 * Generates all vectors. The output is reproducible, because keys and ephemeral keys are derived from names. Uses only
 * @noble and node:crypto, and states the expected results from docs/protocol.md case by case, so that the vectors
 * cannot repeat a mistake in the packages.
 */
export function makeRegistrationVectors(): RegistrationVectors {
  return {
    note: 'Registrations that a relay must refuse, and some on the edge that it must accept; see README.md. These keys are public: use them in tests alone.',
    now: nowSeconds,
    keys: [relayKey, secondRelayKey, strangerKey],
    vectors: [...sealedBoxCases(), ...base64Cases(), ...jsonCases(), ...fieldCases(), ...timestampCases()],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(registrationVectorsPath, `${JSON.stringify(makeRegistrationVectors(), undefined, 2)}\n`);
}
