/** Which warehouse it is, and how often it was stamped. */
export interface WarehouseStamp {
  id: string;
  stamp: number;
}

/** The stamps that a warehouse carries itself: what takes its place does not have them, or has older ones. */
export interface WarehouseStamps {
  /** For messages: the folder, or the variable that names the server. */
  readonly place: string;
  /**
   * The newest of each id; none in one that was never stamped. Throws Transient, and Fatal
   * `warehouse_stamp_damaged`.
   */
  read(): Promise<WarehouseStamp[]>;
  /** Durable when it returns. After the migrations of this release. */
  write(stamp: WarehouseStamp): Promise<void>;
}
