import type { KeyFolder } from './key-folder.ts';
import type { KeyMemory } from './key-memory.ts';
import { type SealedFile, shapeOf } from './sealed-file.ts';
import { writeSealedFile } from './sealed-file-writer.ts';

/** Writes the records of a generation, in this memory, to a file of the folder. It does not count yet. */
export async function sealGeneration(
  { directory, owner, openFile }: KeyFolder,
  memory: KeyMemory,
  generation: number,
  fileNumber: number,
): Promise<SealedFile> {
  const { wasm, bucketBits, slotBits } = memory;
  const shape = shapeOf(wasm.countOf(generation) >>> 0, bucketBits, wasm.isWide(generation) === 1);
  const slotsPerBucket = 2 ** (slotBits - bucketBits);
  const wanted = { directory, owner, openFile, number: fileNumber, shape };
  return await writeSealedFile(memory, wanted, {
    fill({ first, end }) {
      wasm.collect(generation, first * slotsPerBucket, end * slotsPerBucket);
    },
  });
}
