/** What is used of a package that brings no types. Source: its README. */
declare module 'fs-native-extensions' {
  /** False while another open file description holds it; throws where the file system has no locks. */
  export function tryLock(fd: number): boolean;
}
