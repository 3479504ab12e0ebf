import { mutant } from './mutant-row.ts';

const NODE_KILLS = 'tests/clients/node-kills.sys.test.ts';
const NODE_SPOOL = 'sdk/node/src/spool/spool.test.ts';
const NODE_AT_CLOSE = 'sdk/node/src/spool/spool-at-close.test.ts';
const NODE_OWNER = 'sdk/node/src/spool/owner.test.ts';
const NODE_RECORD = 'sdk/node/src/spool/record.test.ts';
const NODE_RETRIES = 'sdk/node/src/meter/retries.test.ts';
const NODE_ORDINARY = 'sdk/node/src/meter/ordinary-results.test.ts';
const NODE_USAGE = 'sdk/node/src/meter/own-usage.test.ts';
const NODE_FEED = 'sdk/node/src/entitlements/feed.test.ts';
const NODE_CLIENT = 'sdk/node/src/client/client.test.ts';
const NODE_CONNECTION = 'sdk/node/src/entitlements/feed-connection.test.ts';
const KILLED = 'every event in a spool is counted once, whenever its process is killed';

const PYTHON_KILLS = 'tests/clients/python-kills.sys.test.ts';
const PYTHON_SPOOL = 'sdk/python/tests/test_spool.py';
const PYTHON_READING = 'sdk/python/tests/test_reading_spool.py';
const PYTHON_OWNERS = 'sdk/python/tests/test_spool_owners.py';
const PYTHON_CLOSING = 'sdk/python/tests/test_closing.py';
const PYTHON_FEED = 'sdk/python/tests/test_feed.py';
const PYTHON_KILLED = 'what killed Python programs tracked into a spool is counted once';

/** What clients lose that keep events until they are counted. */
export const CLIENT_MUTANTS = [
  mutant('tracked-before-the-write', [23])
    .why('an event is taken that is in no file: the end of its process takes it')
    .drop('sdk/node/src/spool/spool-folder')
    .red(NODE_SPOOL, 'has an event in a file before track returns, and nothing is left when all are settled')
    .red(NODE_KILLS, KILLED),
  mutant('cursor-ahead', [23])
    .why('what is being sent counts as settled: a kill before the response loses it')
    .before(
      'sdk/node/src/spool/spool-folder',
      'this.moveCursor({ segment: segment.number, position: taken.end });',
    )
    .red(NODE_SPOOL, 'of a process that ended is taken over, from where it was settled'),
  mutant('spool-checksum-ignored', [23])
    .why('what a power cut left of an event is sent as one')
    .never('sdk/node/src/spool/record')
    .red(NODE_RECORD, 'what is cut or changed anywhere ends the reading there, and is never an event'),
  mutant('orphans-left', [23])
    .why('what a process had not sent when it ended is sent by no other')
    .always('sdk/node/src/spool/adopt')
    .red(NODE_SPOOL, 'of a process that ended is taken over, from where it was settled')
    .red(NODE_KILLS, KILLED),
  mutant('garbage-settled', [23])
    .why('any JSON with 200, of whatever is in between, settles the events of its request')
    .is(
      'sdk/node/src/meter/results',
      "if (!Array.isArray(results)) return payloads.map(() => ({ status: 'created' }));",
    )
    .red(NODE_RETRIES, 'a 200 with JSON of something else'),
  mutant('another-key-settles', [23])
    .why('the results of another batch, from a cache in between, settle events that the server never saw')
    .never('sdk/node/src/meter/ordinary-results')
    .red(NODE_ORDINARY, 'are those of its very keys, in order, and nothing else'),
  mutant('own-usage-not-counted', [18])
    .why('a burst of one client passes a limit: what it tracked is not counted yet')
    .is('sdk/node/src/entitlements/check', 'const own = 0n;')
    .red(NODE_FEED, 'counts what its own meter has tracked at once, so that a burst cannot pass a limit'),
  mutant('own-usage-forgotten-early', [18])
    .why('a client takes what was just acknowledged for counted, and allows it again')
    .never('sdk/node/src/meter/own-usage')
    .red(NODE_USAGE, 'counts what was tracked until the server has counted it, and each key once'),
  mutant('unready-feed-decides', [18])
    .why('a client decides by a part of what the feed is about to tell it')
    .always('sdk/node/src/entitlements/feed-connection')
    .red(NODE_FEED, 'decides nothing by a stream that is silent or does not say that it is whole'),
  mutant('changed-body-rejects', [23])
    .why('behind a proxy that changes bodies each event is rejected for good, though it is right')
    .is('sdk/node/src/meter/results', "if (isOneOf(CHANGED, body)) return { kind: 'halve', error };")
    .red(NODE_RETRIES, 'a body that was changed on its way'),
  mutant('errors-of-another-batch-reject', [23])
    .why('the errors of another batch, from a cache in between, reject events that the server never saw')
    .never('sdk/node/src/meter/results')
    .red(NODE_RETRIES, 'errors of other events'),
  mutant('memory-lost-at-the-close', [23])
    .why('what was taken while the spool was away is lost with the process, though it is well again')
    .is('sdk/node/src/meter/spool-with-memory', 'const kept = -1;')
    .red(NODE_AT_CLOSE, 'a spool that is well at the close takes what is in memory, sent or not'),
  mutant('unknown-owner-ended', [23])
    .why('at the limit of open files a process takes over the folder of one that lives')
    .never('sdk/node/src/spool/owner')
    .red(NODE_OWNER, 'a folder whose owner cannot be read just now is not taken over: it may live'),
  mutant('impossible-name-watched', [18])
    .why('a name that no customer can have ends the local decisions of all others, or the whole process')
    .never('sdk/node/src/entitlements/checked-names')
    .red(NODE_FEED, 'a check of U+0000 is rejected by itself, and other customers are followed after it'),
  mutant('garbage-decides', [18])
    .why('JSON of whatever is in between is taken for a decision: a text `false` allows')
    .always('sdk/node/src/entitlements/check')
    .red(
      NODE_CLIENT,
      'an object without it is no decision: the policy decides, and the last one stays known',
    ),
  mutant('unready-time-counts', [18])
    .why('after an interruption a client takes its own usage for counted before it was told of any count')
    .never('sdk/node/src/entitlements/feed-connection')
    .red(
      NODE_CONNECTION,
      'a heartbeat counts nothing until all customers were sent, also after an interruption',
    ),
  mutant('delayed-feed-decides', [18])
    .why('a client decides by what a proxy in between has kept for long')
    .never('sdk/node/src/entitlements/feed')
    .red(NODE_FEED, 'decides nothing by a feed that something in between delays'),
  mutant('own-usage-by-id-not-counted', [18])
    .why('a burst that is tracked by the id of its meter passes a limit')
    .is('sdk/node/src/meter/own-usage', 'if (place.meterId !== meterId) continue;')
    .red(
      NODE_USAGE,
      'counts what was tracked by the id of a meter for each of them, until the server has counted it',
    ),
  mutant('python-tracked-before-the-write', [23])
    .why('the Python client takes an event that is in no file: the end of its process takes it')
    .drop('sdk/python/src/metergate/spool/own.py')
    .red(PYTHON_SPOOL, 'ASpool.test_sends_what_a_killed_process_tracked_up_to_its_last_event')
    .red(PYTHON_KILLS, PYTHON_KILLED),
  mutant('python-cursor-ahead', [23])
    .why('what the Python client sends counts as settled: without a response it is lost')
    .before(
      'sdk/python/src/metergate/spool/reader.py',
      'if taken: self._cursor.write(Place(taken[-1].segment, taken[-1].end))',
    )
    .red(PYTHON_SPOOL, 'ASpool.test_keeps_what_was_sent_without_a_response_for_the_next_process'),
  mutant('python-key-made-again', [23])
    .why('the Python client retries under another idempotency key: what arrived twice is counted twice')
    .is(
      'sdk/python/src/metergate/sender.py',
      `payloads = [entry.payload.replace(b'":"', b'":"%d-' % time.monotonic_ns(), 1)` +
        ' if self._failures else entry.payload for entry in entries]',
    )
    .red('sdk/python/tests/test_bad_servers.py', 'AMeter.test_loses_nothing_to_a_server_that_misbehaves'),
  mutant('python-damage-unreported', [23])
    .why('the Python client passes over damage in a spool, and nobody learns of the loss')
    .drop('sdk/python/src/metergate/spool/reader.py')
    .red(PYTHON_SPOOL, 'ASpool.test_reads_up_to_what_is_damaged_and_keeps_the_file'),
  mutant('python-read-forgotten', [23])
    .why('what the Python client has read when it lacks a descriptor is passed over, and never sent')
    .is('sdk/python/src/metergate/spool/reader.py', 'return []')
    .red(PYTHON_READING, 'ASpoolThatCannotBeRead.test_just_now_loses_nothing_that_waits_in_it'),
  mutant('python-foreign-error-rejects', [23])
    .why('the error of a proxy makes the Python client reject events that the server never saw')
    .swap('sdk/python/src/metergate/results.py', '_is_one_of(_OF_EVENTS, body)', 'error is not None')
    .red('sdk/python/tests/test_results.py', 'AResponse.test_of_another_program_rejects_nothing'),
  mutant('python-foreign-item-rejects', [23])
    .why('an error in the response to another batch makes the Python client reject an event that is well')
    .swap('sdk/python/src/metergate/results.py', ' or item.get("idempotencyKey") != key', '')
    .red(
      'sdk/python/tests/test_results.py',
      'AResponse.test_rejects_nothing_for_the_error_of_an_item_of_another_batch',
    ),
  mutant('python-orphans-left', [23])
    .why('what a process with the Python client had not sent when it ended is sent by no other')
    .swap('sdk/python/src/metergate/keeper.py', 'adopt_orphans(root, self._outbox.folders.ulid)', '[]')
    .red(PYTHON_SPOOL, 'ASpool.test_keeps_what_a_process_leaves_for_the_next_one')
    .red(PYTHON_KILLS, PYTHON_KILLED),
  mutant('python-folder-ends-the-scan', [23])
    .why('a folder that may not be read ends the search of the Python client for those of dead processes')
    .swap('sdk/python/src/metergate/spool/owner.py', 'OSError', 'FileNotFoundError')
    .red(PYTHON_OWNERS, 'AnOwner.test_that_may_not_be_read_holds_up_no_other_folder'),
  mutant('python-unreadable-is-dead', [23])
    .why('a Python process with too many open files takes the folder of one that lives')
    .swap(
      'sdk/python/src/metergate/spool/owner.py',
      '(FileNotFoundError, NotADirectoryError, ProcessLookupError)',
      'OSError',
    )
    .red(PYTHON_OWNERS, 'AnOwner.test_that_cannot_be_seen_for_want_of_descriptors_is_not_dead'),
  mutant('python-memory-lost-at-close', [23])
    .why('what a Python process took while its disk was full ends with it, though the disk is well again')
    .swap('sdk/python/src/metergate/outbox.py', 'memory.untaken > 0', 'False')
    .red(
      'sdk/python/tests/test_failing_disk.py',
      'AFailingDisk.test_that_is_well_again_gets_what_came_meanwhile',
    ),
  mutant('python-folder-not-released', [23])
    .why('a Python meter that was closed while it connected keeps its events from all others')
    .is(
      'sdk/python/src/metergate/meter.py',
      'if not (self._sender and [one for one in self._sender._threads if one.is_alive()]): ' +
        'self._outbox.close_spool()',
    )
    .red(
      PYTHON_CLOSING,
      'AMeterThatIsClosed.test_with_a_thread_that_does_not_end_leaves_its_events_to_others',
    ),
  mutant('python-child-ends-requests', [23])
    .why('a forked Python process that ends breaks off the requests of its parent')
    .swap('sdk/python/src/metergate/transport.py', 'self._pid != os.getpid()', 'False')
    .red(
      PYTHON_CLOSING,
      'AMeterThatIsClosed.test_in_a_forked_process_leaves_the_requests_of_its_parent_alone',
    ),
  mutant('python-decision-unread', [18])
    .why('JSON of another program is a decision for the Python client, or an error whatever the fallback is')
    .is(
      'sdk/python/src/metergate/entitlements.py',
      'checked = Checked(decision is not None, "", "", "server")',
    )
    .red(
      'sdk/python/tests/test_client.py',
      'AnEntitlementCheck.test_takes_json_that_is_no_decision_for_an_outage',
    ),
  mutant('python-feed-of-any-name', [18])
    .why('one name that no customer can have ends the decisions of the Python client for all that join it')
    .swap('sdk/python/src/metergate/feed.py', 'not _may_be_of_a_customer(name)', 'name == ""')
    .red(PYTHON_FEED, 'AFeed.test_asks_for_names_as_they_are_and_for_no_others'),
  mutant('python-delayed-feed-decides', [18])
    .why('the Python client decides by what a proxy has held back')
    .swap('sdk/python/src/metergate/feed_stream.py', 'now - said_at <= AGE_SECONDS_MAX', 'True')
    .red(PYTHON_FEED, 'AFeed.test_that_something_delays_has_the_server_asked'),
  mutant('python-undecided-stop-others', [23])
    .why('events of one customer that the server cannot decide keep the Python client from sending any')
    .is('sdk/python/src/metergate/deferred.py', 'return True')
    .red(
      'sdk/python/tests/test_deferred.py',
      'UndecidedEvents.test_hold_up_no_others_and_are_sent_when_they_can_be_decided',
    ),
  mutant('python-own-usage-forgotten-early', [18])
    .why('the Python client takes what was just acknowledged for counted, and allows it again')
    .swap('sdk/python/src/metergate/own_usage.py', 'steps[0].ended_at < counted_to', 'True')
    .red(
      'sdk/python/tests/test_own_usage.py',
      'OwnUsageOfAPlace.test_is_what_was_tracked_until_it_is_counted',
    ),
];
