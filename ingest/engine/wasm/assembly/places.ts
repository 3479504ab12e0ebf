// The layout of the wasm engine's one memory of 56 MiB. Pages that are never touched are never resident.

export const KEYS: i32 = 0; //                  32 B: key of the id, then key of the fingerprint
export const HEADER_KEY: i32 = 0x100; //        the key of a single event: 255 B at most
export const HASHED: i32 = 0x1_0000; //         a fingerprint's text: 12 KB at most
export const ITEMS: i32 = 0x4_0000; //          500 × ITEM_BYTES
export const RECORDS: i32 = 0x4_8000; //        500 × 40 B as in schemas/stored/record.ts
export const OUTCOMES: i32 = 0x5_0000; //       500 × 1 B, written by the key table
export const READ_ONLY: i32 = 0x5_0400; //      500 × 1 B, always 0
export const MEMBERS: i32 = 0x5_1000; //        33 × MEMBER_BYTES: the properties of the item at hand
export const MEMBER_WORDS: i32 = 0x5_1600; //   40 × 4 B: the names of members as words
export const MEMBER_ORDER: i32 = 0x5_1400; //   33 × 4 B: those words in order
export const KNOWN_NAMES: i32 = 0x5_1800; //    32 × 32 B: names of properties that were read before
export const REUSED: i32 = 0x5_2000; //         the result of an item whose key was used for another event
export const NUMBERS: i32 = 0x5_4000; //        500 × 2 B: of each created event, which of PAIRS it is of
export const PAIRS: i32 = 0x5_8000; //          500 × PAIR_BYTES: the names of this request
export const PAIR_SLOTS: i32 = 0x6_0000; //     1024 × 8 B: generation, place of a pair
export const KNOWN_SLOTS: i32 = 0x10_0000; //   131,072 × 4 B: the texts of a known pair, by its names
export const BODY: i32 = 0x20_0000; //          1 MiB and a zero byte
export const TEXTS: i32 = 0x40_0000; //         canonical properties, twice where out of order: under 4 MiB
export const OUTPUT: i32 = 0x80_0000; //        response, then lines: under 5 MiB each
export const PAIR_TEXTS: i32 = 0x100_0000; //   texts of known pairs, filled from outside
/** A page before the memory ends: copies read up to seven bytes behind what they copy. */
export const PAIR_TEXTS_END: i32 = 0x37f_0000;

export const ITEMS_MAX: i32 = 500;

// An item, as offsets of its texts.
export const ITEM_BYTES: i32 = 64;
export const KEY_AT: i32 = 0;
export const KEY_BYTES: i32 = 4;
export const CUSTOMER_AT: i32 = 8;
export const CUSTOMER_BYTES: i32 = 12;
export const METER_AT: i32 = 16;
export const METER_BYTES: i32 = 20;
export const VALUE_AT: i32 = 24;
export const VALUE_BYTES: i32 = 28;
export const PROPERTIES_AT: i32 = 32;
export const PROPERTIES_BYTES: i32 = 36;
export const OCCURRED_AT: i32 = 40; //          f64 milliseconds; NaN where the client sent none
export const PAIR_AT: i32 = 48; //              its pair in PAIRS

// Two names as they were sent. Outside they become a pair of the registry, whose texts are at PAIR_TEXT.
export const PAIR_BYTES: i32 = 40;
export const PAIR_CUSTOMER_AT: i32 = 0;
export const PAIR_CUSTOMER_BYTES: i32 = 4;
export const PAIR_METER_AT: i32 = 8;
export const PAIR_METER_BYTES: i32 = 12;
export const PAIR_TEXT: i32 = 16;
export const PAIR_CREATED: i32 = 20;
export const PAIR_FROM: i32 = 24; //            f64: occurredAt of its created events
export const PAIR_TO: i32 = 32;

// The texts of a known pair, one after the other behind their lengths: three of what is written of it, then
// its two names as they are sent.
export const TEXT_FINGERPRINT_BYTES: i32 = 0;
export const TEXT_JSON_BYTES: i32 = 4;
export const TEXT_MEMBER_BYTES: i32 = 8;
export const TEXT_CUSTOMER_BYTES: i32 = 12;
export const TEXT_METER_BYTES: i32 = 16;
export const TEXT_ENVIRONMENT: i32 = 20; //     a number outside
export const TEXT_NUMBER: i32 = 24; //          of the pair outside
export const TEXT_HEAD_BYTES: i32 = 28;

// A member of properties: where it was written, and its key where it was sent. It ends where the next begins.
export const MEMBER_BYTES: i32 = 12;
export const MEMBER_AT: i32 = 0;
export const MEMBER_KEY_AT: i32 = 4;
export const MEMBER_KEY_BYTES: i32 = 8;

// A record's words.
export const RECORD_BYTES: i32 = 40;
export const RECORD_FINGERPRINT: i32 = 16;
export const RECORD_OCCURRED: i32 = 24;
export const RECORD_CREATED: i32 = 32;

export const CREATED: u8 = 1;
export const DUPLICATE: u8 = 2;
