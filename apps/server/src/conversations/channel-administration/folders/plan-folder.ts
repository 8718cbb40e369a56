import { type ProtocolError, refused } from '@waxwing/protocol';
import { realmLimits } from '../../../people/realm/realm-limits.js';
import { nameProblem } from '../../../platform/names/name-problem.js';

const { max_channel_folder_name_length: maximumFolderNameCharacters } = realmLimits;

/**
 * Trims and validates a folder name.
 * @throws ProtocolError BAD_REQUEST if the name is empty, is too long, or has characters that {@link nameProblem}
 * rejects.
 */
export function checkedFolderName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw refused("Channel folder name can't be empty.");
  if ([...trimmed].length > maximumFolderNameCharacters) {
    throw refused(`Channel folder name too long (limit: ${maximumFolderNameCharacters} characters).`);
  }
  if (nameProblem('channel folder name', trimmed) !== undefined) {
    throw refused('Channel folder name contains an unprintable character.');
  }
  return trimmed;
}

export function folderNameTaken(name: string): ProtocolError {
  return refused(`Channel folder name '${name}' is already in use.`);
}
