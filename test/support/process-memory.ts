import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const chunkBytes = 16 * 1024 * 1024;

/**
 * Counts the occurrences of each needle in the writable memory of another process of this user (Linux:
 * /proc/<pid>/mem).
 */
export function countInMemory(processId: number, needles: readonly Uint8Array[]): number[] {
  const counts = needles.map(() => 0);
  const memory = openSync(`/proc/${processId}/mem`, 'r');
  try {
    for (const { start, end } of writableMappings(processId)) {
      for (let at = start; at < end; at += chunkBytes) {
        // Chunks overlap, so a match across the end of a chunk is found in the next chunk.
        const overlap = at === start ? 0 : Math.max(...needles.map(({ length }) => length)) - 1;
        const chunk = readMemory(memory, at - overlap, Math.min(chunkBytes, end - at) + overlap);
        needles.forEach((needle, index) => {
          counts[index] = (counts[index] ?? 0) + occurrences(chunk, needle, overlap);
        });
      }
    }
  } finally {
    closeSync(memory);
  }
  return counts;
}

function writableMappings(processId: number): { start: number; end: number }[] {
  return readFileSync(`/proc/${processId}/maps`, 'utf8')
    .split('\n')
    .filter((line) => / rw/.test(line) && !line.includes('[v'))
    .map((line) => {
      const [start = '', end = ''] = (line.split(' ')[0] ?? '').split('-');
      return { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) };
    });
}

function readMemory(memory: number, position: number, length: number): Buffer {
  const chunk = Buffer.alloc(length);
  try {
    return chunk.subarray(0, readSync(memory, chunk, 0, length, position));
  } catch (error) {
    // The mapping has no pages, or was unmapped after the list was read.
    if (['EIO', 'EFAULT'].includes((error as NodeJS.ErrnoException).code ?? '')) return chunk.subarray(0, 0);
    throw error;
  }
}

function occurrences(chunk: Buffer, needle: Uint8Array, overlap: number): number {
  let count = 0;
  for (let at = chunk.indexOf(needle); at >= 0; at = chunk.indexOf(needle, at + 1)) {
    // Skips matches that lie entirely in the overlap, because they were counted in the previous chunk.
    if (at + needle.length > overlap) count += 1;
  }
  return count;
}
