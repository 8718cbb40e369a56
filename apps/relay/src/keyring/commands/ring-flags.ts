import type { AskedChangeFlags, ChangeFlags } from './output.js';

export interface NewRingFlags extends ChangeFlags {
  readonly recoveryKey?: string;
  readonly yesLoseDevices?: true;
}
export interface ImportFlags extends NewRingFlags {
  readonly primary?: string;
}
export interface SigningFlags extends AskedChangeFlags {
  readonly recoveryKey?: string;
}
export interface RewrapFlags extends AskedChangeFlags {
  readonly toIdentityFile?: string;
  readonly toPassphraseFile?: string;
}
export interface MoveFlags extends AskedChangeFlags {
  readonly to: string;
  readonly removeOld?: true;
}
export interface ExportFlags extends AskedChangeFlags {
  readonly to: string;
}
