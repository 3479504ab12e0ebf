// Where cloud-events.ts keeps what. The compiler's own constants lie between 8 KiB and MAPPINGS.

export const MAPPINGS: i32 = 0x1_0000; //       64 KiB, filled from outside
export const MAPPINGS_END: i32 = 0x2_0000;
export const ATTRIBUTES: i32 = 0x2_0000; //     7 × 8 B: place and length of each attribute
export const MEMBERS: i32 = 0x2_1000; //        64 × MEMBER_BYTES: the data of the event at hand
export const BODY: i32 = 0x10_0000; //          1 MiB and a zero byte
export const OUTPUT: i32 = 0x30_0000; //        the body of a batch: under 1 MiB

// A mapping: places and lengths of its texts, then its properties.
export const NEXT: i32 = 0; //                  the mapping behind it; 0: none
export const TYPE_AT: i32 = 4;
export const TYPE_BYTES: i32 = 8;
export const METER_AT: i32 = 12; //             the meter's key
export const METER_BYTES: i32 = 16;
export const VALUE_NAME_AT: i32 = 20; //        the member that has the value
export const VALUE_NAME_BYTES: i32 = 24; //     0: each event counts 1
export const PROPERTY_COUNT: i32 = 28;
export const PROPERTIES: i32 = 32;

// A property: the member that has its value, and `"name":`.
export const PROPERTY_BYTES: i32 = 16;
export const MEMBER_NAME_AT: i32 = 0;
export const MEMBER_NAME_BYTES: i32 = 4;
export const LABEL_AT: i32 = 8;
export const LABEL_BYTES: i32 = 12;

// A member of data.
export const MEMBERS_MAX: i32 = 64;
export const MEMBER_BYTES: i32 = 20;
export const NAME_AT: i32 = 0;
export const NAME_BYTES: i32 = 4;
export const KIND: i32 = 8;
export const VALUE_AT: i32 = 12;
export const VALUE_BYTES: i32 = 16;

export const NONE: i32 = 0; //                  null, a list, an object: like an absent member
export const TEXT: i32 = 1;
export const NUMBER: i32 = 2;
export const BOOLEAN: i32 = 3;
export const ODD: i32 = 4; //                   a text or number in another form: not ours where it counts
