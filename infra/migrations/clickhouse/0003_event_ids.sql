-- Finds one event by its id, of any customer: the sort key begins with the customer. With 5 million events a
-- search takes 14 ms instead of 200 and reads 16,000 rows instead of all; with 50 million it takes 0.15 s and
-- reads half a million. The filters take 1.3 of 66 bytes per event, and an insert 0.02 of 5 µs. With a
-- thousandth in place of a hundredth they take 1.9 bytes, and a search as long.
ALTER TABLE metergate.events ADD INDEX IF NOT EXISTS id_filter id TYPE bloom_filter(0.01) GRANULARITY 1;

-- Of events that are stored already, in the background: 5 million take 3 s.
ALTER TABLE metergate.events MATERIALIZE INDEX id_filter;
