import { z } from 'zod';

// Functions that declare several fields of the same type.

export const integer = z.number().int();
export const list = z.array(z.unknown());
export const map = z.record(z.string(), z.unknown());
export const flags = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, z.boolean()])) as Record<Name, z.ZodBoolean>;
export const integers = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, integer])) as Record<Name, typeof integer>;
export const texts = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, z.string()])) as Record<Name, z.ZodString>;
export const lists = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, list])) as Record<Name, typeof list>;
export const maps = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, map])) as Record<Name, typeof map>;
