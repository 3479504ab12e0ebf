import { Fatal, Poison, Transient } from '../../schemas/failures.ts';

/**
 * Codes by which ClickHouse reports that it cannot read a line. Source: its ErrorCodes.cpp; most were met.
 */
const UNREADABLE = new Set([
  6, //   CANNOT_PARSE_TEXT
  25, //  CANNOT_PARSE_ESCAPE_SEQUENCE: a lone surrogate
  26, //  CANNOT_PARSE_QUOTED_STRING
  27, //  CANNOT_PARSE_INPUT_ASSERTION_FAILED
  33, //  CANNOT_READ_ALL_DATA
  38, //  CANNOT_PARSE_DATE
  41, //  CANNOT_PARSE_DATETIME
  53, //  TYPE_MISMATCH
  69, //  ARGUMENT_OUT_OF_BOUND: a decimal with too many digits
  72, //  CANNOT_PARSE_NUMBER
  117, // INCORRECT_DATA
  130, // CANNOT_READ_ARRAY_FROM_TEXT
  131, // TOO_LARGE_STRING_SIZE
  321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  407, // DECIMAL_OVERFLOW
]);

/** Codes that mean: the statement is right, not now. */
const NOT_NOW = new Set([
  60, //  UNKNOWN_TABLE: before the first migration
  81, //  UNKNOWN_DATABASE: the same
  159, // TIMEOUT_EXCEEDED
  164, // READONLY: a replica that is coming up
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  225, // NO_ZOOKEEPER
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  244, // UNEXPECTED_ZOOKEEPER_ERROR
  252, // TOO_MANY_PARTS
  254, // NO_ACTIVE_REPLICAS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  289, // REPLICA_IS_NOT_IN_QUORUM: it has not fetched what most have
  319, // UNKNOWN_STATUS_OF_INSERT
  341, // UNFINISHED: a mutation, on other servers
  394, // QUERY_WAS_CANCELLED
  733, // TABLE_IS_BEING_RESTARTED
  999, // KEEPER_EXCEPTION
]);

/** TIMEOUT_EXCEEDED, MEMORY_LIMIT_EXCEEDED */
const TOO_MUCH = new Set([159, 241]);

/** Codes with which ClickHouse rejects a correct statement until an operator fixes the server. */
const LASTING = new Set([
  10, //  NOT_FOUND_COLUMN_IN_BLOCK
  16, //  NO_SUCH_COLUMN_IN_TABLE
  20, //  NUMBER_OF_COLUMNS_DOESNT_MATCH
  36, //  BAD_ARGUMENTS
  42, //  NUMBER_OF_ARGUMENTS_DOESNT_MATCH
  43, //  ILLEGAL_TYPE_OF_ARGUMENT
  44, //  ILLEGAL_COLUMN
  46, //  UNKNOWN_FUNCTION
  47, //  UNKNOWN_IDENTIFIER
  48, //  NOT_IMPLEMENTED
  50, //  UNKNOWN_TYPE
  62, //  SYNTAX_ERROR
  63, //  UNKNOWN_AGGREGATE_FUNCTION
  73, //  UNKNOWN_FORMAT
  80, //  INCORRECT_QUERY
  115, // UNKNOWN_SETTING
  122, // INCOMPATIBLE_COLUMNS
  158, // TOO_MANY_ROWS
  191, // SET_SIZE_LIMIT_EXCEEDED
  192, // UNKNOWN_USER
  193, // WRONG_PASSWORD
  194, // REQUIRED_PASSWORD
  195, // IP_ADDRESS_NOT_ALLOWED
  307, // TOO_MANY_BYTES
  344, // SUPPORT_IS_DISABLED
  396, // TOO_MANY_ROWS_OR_BYTES
  446, // FUNCTION_NOT_ALLOWED
  452, // SETTING_CONSTRAINT_VIOLATION
  497, // ACCESS_DENIED
  516, // AUTHENTICATION_FAILED
]);

/**
 * Codes of a read that found files missing, cut off or other than they were written. Of a part in which each
 * byte was changed once 99 of 100 reads ended with 40, the others with 33, 39, 246 or 432.
 */
const DAMAGED = new Set([
  32, //  ATTEMPT_TO_READ_AFTER_EOF
  33, //  CANNOT_READ_ALL_DATA
  39, //  TOO_LARGE_SIZE_COMPRESSED
  40, //  CHECKSUM_DOESNT_MATCH
  74, //  CANNOT_READ_FROM_FILE_DESCRIPTOR
  107, // FILE_DOESNT_EXIST
  226, // NO_FILE_IN_DATA_PART
  228, // BAD_SIZE_OF_FILE_IN_DATA_PART
  246, // CORRUPTED_DATA: empty marks, after a full disk
  271, // CANNOT_DECOMPRESS
  432, // UNKNOWN_CODEC
]);

/**
 * Of a read: Transient, or the error itself when the statement, or the blocker, is permanent.
 * Damaged data ends the process here (damage-watch.ts); on a server the operator has to repair it.
 */
export function readFailure(error: unknown): unknown {
  if (error instanceof Transient || error instanceof Fatal || error instanceof TypeError) return error;
  const code = clickHouseCode(error);
  return code === undefined || NOT_NOW.has(code) || DAMAGED.has(code) ? unavailable(error) : error;
}

/**
 * Of an insert: Poison only where ClickHouse reports that a line is unreadable. Any other error may be
 * temporary, and sending the same block again is safe; quarantining events is not. Fatal `warehouse_refuses`
 * where the error is permanent. Each contains ClickHouse's message, for the alarm of the load.
 */
export function insertFailure(error: unknown): Poison | Transient | Fatal {
  if (error instanceof Transient) return error;
  if (isUnreadable(error)) {
    return new Poison('block_refused', 'ClickHouse cannot read a line of this block.', { cause: error });
  }
  if (!isLasting(error)) return unavailable(error);
  const message = `ClickHouse rejects the load until this is fixed: ${wordsOf(error)}`;
  return new Fatal('warehouse_refuses', message, { cause: error });
}

/** ClickHouse gives the same error again, whichever process sends the statement. */
export function isLasting(error: unknown): boolean {
  return LASTING.has(clickHouseCode(error) ?? -1);
}

export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.has(clickHouseCode(error) ?? -1);
}

/** A statement that ran out of its time or memory, as far as is known: of less data it may end. */
export function isTooMuch(error: unknown): boolean {
  if (error instanceof Transient) return error.code === 'warehouse_unavailable';
  return TOO_MUCH.has(clickHouseCode(error) ?? -1);
}

/** Of a read. */
export function isDamage(error: unknown): boolean {
  return DAMAGED.has(clickHouseCode(error) ?? -1);
}

export function unavailable(cause?: unknown): Transient {
  const isNotified = clickHouseCode(cause) !== undefined;
  const message = isNotified ? ` It reports: ${wordsOf(cause)}` : '';
  return new Transient('warehouse_unavailable', `ClickHouse is unavailable or slow.${message}`, { cause });
}

const WORDS_MAX = 200;

/** Its code and the beginning of its text, which repeats the code in front of itself, once or more. */
function wordsOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [, name] = /\(([A-Z][A-Z0-9_]+)\)/.exec(text) ?? [];
  const [words = ''] = text.replace(/^(?:Code: \d+\. (?:DB::Exception: )?)+/, '').split('\n');
  const code = [clickHouseCode(error), name].filter(Boolean).join(' ');
  return `code ${code}: ${words.length > WORDS_MAX ? `${words.slice(0, WORDS_MAX)}...` : words}`;
}

/**
 * `instanceof` does not work with the driver's own class: chdb has another copy of it. Its code is digits in
 * text; chdb's raw insert keeps a number under another name. System errors have a word there.
 */
function clickHouseCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('clickhouseCode' in error && typeof error.clickhouseCode === 'number') return error.clickhouseCode;
  return 'code' in error && /^\d+$/.test(String(error.code)) ? Number(error.code) : undefined;
}
