import Foundation

/// The chat in SQLite, with the same indexes, and triggers that maintain the aggregates of rooms and
/// an FTS5 table. Prepared statements are kept.
final class SQLiteChat {
  private let database: SQLiteConnection
  private var statements: [String: SQLiteStatement] = [:]

  init(path: String, isDurable: Bool = true) throws {
    database = try SQLiteConnection(path: path)
    if !isDurable { try database.execute("PRAGMA synchronous=OFF") }
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS author(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS room(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, messageCount INTEGER NOT NULL DEFAULT 0,
        lastSent INTEGER);
      CREATE TABLE IF NOT EXISTS membership(
        id INTEGER PRIMARY KEY, lastRead INTEGER, roomID INTEGER REFERENCES room(id),
        authorID INTEGER REFERENCES author(id));
      CREATE TABLE IF NOT EXISTS message(
        id INTEGER PRIMARY KEY, sent INTEGER NOT NULL, text TEXT NOT NULL,
        roomID INTEGER REFERENCES room(id), authorID INTEGER REFERENCES author(id));
      CREATE INDEX IF NOT EXISTS membership_room ON membership(roomID);
      CREATE INDEX IF NOT EXISTS membership_author ON membership(authorID);
      CREATE INDEX IF NOT EXISTS timeline ON message(roomID, sent);
      CREATE INDEX IF NOT EXISTS message_author ON message(authorID);
      CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
        text, content='message', content_rowid='id', tokenize='unicode61');
      CREATE TRIGGER IF NOT EXISTS message_insert AFTER INSERT ON message BEGIN
        INSERT INTO words(rowid, text) VALUES(new.id, new.text);
        UPDATE room SET messageCount = messageCount + 1,
          lastSent = max(coalesce(lastSent, new.sent), new.sent) WHERE id = new.roomID; END;
      """)
  }

  private func statement(_ text: String) throws -> SQLiteStatement {
    if let statement = statements[text] { return statement }
    let statement = try database.prepare(text)
    statements[text] = statement
    return statement
  }

  func load(_ data: ChatData, batch: Int) throws {
    let room = try statement("INSERT INTO room(name) VALUES(?)")
    let author = try statement("INSERT INTO author(name) VALUES(?)")
    let membership = try statement(
      "INSERT INTO membership(lastRead, roomID, authorID) VALUES(?, ?, ?)")
    try database.execute("BEGIN")
    for name in data.roomNames {
      room.bind(name)
      try room.run()
    }
    for name in data.authorNames {
      author.bind(name)
      try author.run()
    }
    for row in data.memberships {
      membership.bind(row.lastRead, Int64(row.room), Int64(row.author))
      try membership.run()
    }
    try database.execute("COMMIT")
    for start in stride(from: 0, to: data.count, by: batch) {
      try database.execute("BEGIN")
      _ = try post(data.messages(from: start, count: min(batch, data.count - start)))
      try database.execute("COMMIT")
    }
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE); ANALYZE")
  }

  func count() throws -> Int {
    try answer("SELECT count(*) FROM message") { $1.count = Int($0.integer(0)) }.count
  }

  /// Runs a query and adds each of its rows to the answer.
  private func answer(
    _ query: String, _ add: (SQLiteStatement, inout Answer) -> Void
  ) throws -> Answer {
    let statement = try statement(query)
    var answer = Answer()
    while try statement.step() { add(statement, &answer) }
    return answer
  }

  /// `GROUP BY roomID` with `max(sent)`, which reads every message, takes longer.
  func newest() throws -> Answer {
    try answer(
      """
      SELECT m.roomID, m.sent, m.text FROM room r JOIN message m ON m.id =
        (SELECT id FROM message WHERE roomID = r.id ORDER BY sent DESC LIMIT 1)
      """
    ) { $1.add($0.integer(0), $0.integer(1), text: $0.text(2)) }
  }

  func newestDates() throws -> Answer {
    try answer("SELECT roomID, max(sent) FROM message GROUP BY roomID") {
      $1.add($0.integer(0), $0.integer(1))
    }
  }

  /// The same by a search for each room.
  func newestDatesOfRooms() throws -> Answer {
    try answer("SELECT id, (SELECT max(sent) FROM message WHERE roomID = room.id) FROM room") {
      if !$0.isNull(1) { $1.add($0.integer(0), $0.integer(1)) }
    }
  }

  func counts() throws -> Answer {
    try answer("SELECT roomID, count(*) FROM message GROUP BY roomID") {
      $1.add($0.integer(0), $0.integer(1))
    }
  }

  func unreadCounts() throws -> Answer {
    try answer(
      """
      SELECT s.id - 1, (SELECT count(*) FROM message m
        WHERE m.roomID = s.roomID AND m.sent > s.lastRead) FROM membership s
      """
    ) { $1.add($0.integer(0), $0.integer(1)) }
  }

  func busiestAuthors() throws -> Answer {
    try answer(
      """
      SELECT authorID, count(*) AS messages FROM message
      GROUP BY authorID ORDER BY messages DESC, authorID LIMIT 10
      """
    ) { $1.add(Int64($1.count), $0.integer(0), $0.integer(1)) }
  }

  func busiestNames() throws -> Answer {
    try answer(
      """
      SELECT a.name, count(*) AS messages FROM message m JOIN author a ON a.id = m.authorID
      GROUP BY a.name ORDER BY messages DESC, a.name LIMIT 10
      """
    ) { $1.add(Int64($1.count), $0.integer(1), text: $0.text(0)) }
  }

  func roomLists(of members: ClosedRange<Int>) throws -> Answer {
    let query = try statement(
      """
      SELECT r.name, m.sent, m.text, (SELECT count(*) FROM message u
        WHERE u.roomID = r.id AND u.sent > s.lastRead)
      FROM membership s JOIN room r ON r.id = s.roomID LEFT JOIN message m ON m.id =
        (SELECT id FROM message WHERE roomID = r.id ORDER BY sent DESC LIMIT 1)
      WHERE s.authorID = ? ORDER BY m.sent DESC, r.name
      """)
    var answer = Answer()
    for member in members {
      query.bind(Int64(member))
      var index: Int64 = 0
      while try query.step() {
        answer.add(index, query.integer(1), query.integer(3), text: query.text(0) + query.text(2))
        index += 1
      }
    }
    return answer
  }

  /// Posts each message in a transaction of its own, unless one was begun.
  func post(_ rows: some Sequence<ChatData.MessageRow>) throws -> Answer {
    let insert = try statement(
      "INSERT INTO message(sent, text, roomID, authorID) VALUES(?, ?, ?, ?)")
    var answer = Answer()
    for row in rows {
      insert.bind(row.sent, row.text, Int64(row.room), Int64(row.author))
      try insert.run()
      answer.count += 1
    }
    return answer
  }

  func storedAggregates() throws -> Answer {
    try answer("SELECT id, messageCount, lastSent FROM room") {
      $1.add($0.integer(0), $0.integer(1), $0.integer(2))
    }
  }
}
