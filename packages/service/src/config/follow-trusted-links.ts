import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { shownMode } from './shown-mode.js';
import { type FileFacts, isTrustedOwner, letsOthersReplace } from './trusted-owner.js';

interface PathPosition<F extends FileFacts = FileFacts> {
  readonly path: string;
  readonly facts: F;
}

/** The target of a path with all links followed, or the end of a sentence that says why a link must not be followed. */
export type FollowedPath =
  | (PathPosition<Stats> & { readonly problem?: undefined })
  | { readonly problem: string };

// The kernel's limit for path resolution (path_resolution(7)).
const maximumLinks = 40;

/**
 * Follows the symbolic links in a path. A link is trusted only if both it and its folder belong to root or the user
 * `own`, and no other user can replace it.
 * @throws the operating system's error, such as ENOENT or ELOOP
 */
export function followTrustedLinks(path: string, own: number): FollowedPath {
  // The path is not normalized first, because the meaning of `..` after a link is known only once the link has been
  // followed.
  const names = (isAbsolute(path) ? path : `${process.cwd()}/${path}`).split('/');
  let here = placeAt('/');
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === '' || name === '.') continue;
    const next = placeAt(name === '..' ? dirname(here.path) : join(here.path, name));
    if (!next.facts.isSymbolicLink()) {
      here = next;
      continue;
    }
    const problem = describeUntrustedLink(next, here, own);
    if (problem !== undefined) return { problem };
    links += 1;
    if (links > maximumLinks) throw tooManyLinks(path);
    const target = readlinkSync(next.path);
    names.unshift(...target.split('/'));
    if (isAbsolute(target)) here = placeAt('/');
  }
  return here;
}

function placeAt(path: string): PathPosition<Stats> {
  return { path, facts: lstatSync(path) };
}

function tooManyLinks(path: string): Error {
  const message = `its links form a cycle, or there are more than ${maximumLinks}`;
  return Object.assign(new Error(message), { code: 'ELOOP', path });
}

/** Explains why a link must not be followed, as the end of a sentence. */
export function describeUntrustedLink(
  link: PathPosition,
  folder: PathPosition,
  own: number,
): string | undefined {
  const remedy = 'use the path of its target';
  if (!isTrustedOwner(link.facts, own)) {
    return `is reached by the link ${link.path} of user ${link.facts.uid}, who is neither root nor the user of this program (${own}): ${remedy}`;
  }
  if (!isTrustedOwner(folder.facts, own)) {
    return `is reached by the link ${link.path}, which user ${folder.facts.uid} can replace as the owner of its folder: ${remedy}`;
  }
  if (letsOthersReplace(folder.facts)) {
    return `is reached by the link ${link.path}, which others can replace, since its folder has mode ${shownMode(folder.facts)}: run chmod go-w ${folder.path}, or ${remedy}`;
  }
  return undefined;
}
