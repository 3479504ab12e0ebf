export interface ReviewedBinary {
  installed: string;
  corrected: string;
}

export const REVIEWED_BINARIES: Record<string, ReviewedBinary>;
export function binaryName(host?: NodeJS.Process): string;
export function correctBinary(name: string, installed: Buffer): Buffer;
