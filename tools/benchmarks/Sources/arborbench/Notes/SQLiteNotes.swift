import Foundation

/// The notes in SQLite, with the same indexes. Lists are queried again after each change, with
/// prepared statements.
final class SQLiteNotes: NotesRival {
  private let database: SQLiteConnection
  private var statements: [String: SQLiteStatement] = [:]
  private var list: NotesList?

  init(path: String) throws {
    database = try SQLiteConnection(path: path)
    try database.execute(
      """
      PRAGMA synchronous=OFF;
      CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
      CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE note(
        id INTEGER PRIMARY KEY, title TEXT NOT NULL, folderID INTEGER REFERENCES folder(id));
      CREATE TABLE tagging(
        tagID INTEGER REFERENCES tag(id), noteID INTEGER REFERENCES note(id),
        PRIMARY KEY(tagID, noteID)) WITHOUT ROWID;
      CREATE INDEX tagging_note ON tagging(noteID);
      CREATE INDEX note_title ON note(title);
      CREATE INDEX note_folder ON note(folderID, title);
      """)
  }

  private func statement(_ text: String) throws -> SQLiteStatement {
    if let statement = statements[text] { return statement }
    let statement = try database.prepare(text)
    statements[text] = statement
    return statement
  }

  func load(_ data: NotesData) throws {
    try database.execute("BEGIN")
    for name in data.folderNames { try run("INSERT INTO folder(name) VALUES(?)", name) }
    for name in data.tagNames { try run("INSERT INTO tag(name) VALUES(?)", name) }
    for (index, row) in data.notes.enumerated() {
      try run("INSERT INTO note(title, folderID) VALUES(?, ?)", row.title, Int64(row.folder))
      for tag in row.tags { try addTag(Int64(tag), to: index + 1) }
    }
    try database.execute("COMMIT; ANALYZE")
  }

  private func run(_ text: String, _ first: any SQLiteBindable, _ second: any SQLiteBindable)
    throws
  {
    let statement = try statement(text)
    statement.bind(first, second)
    try statement.run()
  }

  private func run(_ text: String, _ value: any SQLiteBindable) throws {
    let statement = try statement(text)
    statement.bind(value)
    try statement.run()
  }

  private func addTag(_ tag: Int64, to note: Int) throws {
    try run("INSERT INTO tagging VALUES(?, ?)", tag, Int64(note))
  }

  func show(_ list: NotesList?) throws { self.list = list }

  func apply(_ change: NotesChange) throws {
    switch change {
    case .title(let number, let title):
      try run("UPDATE note SET title = ? WHERE id = ?", title, Int64(number))
    case .folderName(let number, let name):
      try run("UPDATE folder SET name = ? WHERE id = ?", name, Int64(number))
    }
  }

  func read() throws -> Answer {
    var answer = Answer()
    guard let list else { return answer }
    let count = try statement("SELECT count(*) FROM note")
    while try count.step() { answer.add(count.integer(0)) }
    // Both orders are those of indexes.
    let first = try statement(
      list == .byTitle
        ? """
        SELECT n.title, f.name FROM note n LEFT JOIN folder f ON f.id = n.folderID
        ORDER BY n.title LIMIT 40
        """
        : """
        SELECT n.title, f.name FROM folder f CROSS JOIN note n ON n.folderID = f.id
        ORDER BY f.name, n.title LIMIT 40
        """)
    var index: Int64 = 0
    while try first.step() {
      answer.add(index, text: first.text(0) + first.text(1))
      index += 1
    }
    guard list == .inSections else { return answer }
    let sections = try statement(
      """
      SELECT f.name, s.notes FROM folder f
      JOIN (SELECT folderID, count(*) AS notes FROM note GROUP BY folderID) s ON s.folderID = f.id
      """)
    while try sections.step() { answer.add(sections.integer(1), text: sections.text(0)) }
    return answer
  }

  func tagNotes(_ count: Int) throws -> Answer {
    try database.execute("BEGIN; INSERT INTO tag(name) VALUES('')")
    defer { try? database.execute("ROLLBACK") }
    var answer = Answer()
    let tag = try statement("SELECT max(id) FROM tag")
    while try tag.step() { answer.count = Int(tag.integer(0)) }
    let id = Int64(answer.count)
    for number in 1...count { try addTag(id, to: number) }
    let notes = try statement("SELECT count(*) FROM tagging WHERE tagID = ?")
    notes.bind(id)
    while try notes.step() { answer.count = Int(notes.integer(0)) }
    return answer
  }
}
