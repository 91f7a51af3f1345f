import Foundation

/// The gazetteer in SQLite, with the same indexes and an FTS5 table maintained by triggers.
struct SQLiteGazetteer: GazetteerRival {
  private let path: String
  private let database: SQLiteConnection

  init(path: String) throws {
    self.path = path
    database = try SQLiteConnection(path: path)
    try database.execute(
      """
      CREATE TABLE IF NOT EXISTS country(
        id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS city(
        id INTEGER PRIMARY KEY, geonameID INTEGER NOT NULL UNIQUE, name TEXT NOT NULL,
        asciiName TEXT NOT NULL, alternateNames TEXT NOT NULL, latitude DOUBLE NOT NULL,
        longitude DOUBLE NOT NULL, featureCode TEXT NOT NULL, adminCode TEXT NOT NULL,
        population INTEGER NOT NULL, elevation INTEGER, timeZone TEXT NOT NULL,
        modified DOUBLE NOT NULL, countryID INTEGER REFERENCES country(id));
      CREATE INDEX IF NOT EXISTS city_name ON city(name);
      CREATE INDEX IF NOT EXISTS city_population ON city(population);
      CREATE INDEX IF NOT EXISTS city_position ON city(latitude, longitude);
      CREATE INDEX IF NOT EXISTS city_country ON city(countryID);
      CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
        alternateNames, content='city', content_rowid='id', tokenize='unicode61');
      CREATE TRIGGER IF NOT EXISTS city_insert AFTER INSERT ON city BEGIN
        INSERT INTO words(rowid, alternateNames) VALUES(new.id, new.alternateNames); END;
      CREATE TRIGGER IF NOT EXISTS city_delete AFTER DELETE ON city BEGIN
        INSERT INTO words(words, rowid, alternateNames)
        VALUES('delete', old.id, old.alternateNames); END;
      """)
  }

  func load(_ data: GazetteerData, batch: Int) throws {
    let country = try database.prepare("INSERT INTO country(id, code, name) VALUES(?, ?, ?)")
    let city = try database.prepare(
      "INSERT INTO city VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    try database.execute("BEGIN")
    for (index, row) in data.countries.enumerated() {
      country.bind(Int64(index + 1), row.code, row.name)
      try country.run()
    }
    try database.execute("COMMIT")
    for start in stride(from: 0, to: data.cities.count, by: batch) {
      try database.execute("BEGIN")
      for index in start..<min(start + batch, data.cities.count) {
        let row = data.cities[index]
        city.bind(
          Int64(index + 1), row.geonameID, row.name, row.asciiName, row.alternateNames,
          row.latitude, row.longitude, row.featureCode, row.adminCode, row.population,
          row.elevation, row.timeZone, row.modified, Int64(row.country))
        try city.run()
      }
      try database.execute("COMMIT")
    }
  }

  func size() throws -> Int {
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }

  func compactedSize() throws -> Int {
    let copy = path + "-compacted"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try database.execute("VACUUM INTO '\(copy)'")
    return try FileManager.default.attributesOfItem(atPath: copy)[.size] as? Int ?? 0
  }

  func compact() throws { try database.execute("VACUUM") }

  private static let inBox = "latitude BETWEEN ? AND ? AND longitude BETWEEN ? AND ?"

  func count(in boxes: [GazetteerBox]) throws -> GazetteerAnswer {
    let statement = try database.prepare("SELECT count(*) FROM city WHERE " + Self.inBox)
    var answer = GazetteerAnswer()
    for box in boxes {
      statement.bind(box.south, box.north, box.west, box.east)
      while try statement.step() { answer.count += Int(statement.integer(0)) }
    }
    return answer
  }

  func fetch(in boxes: [GazetteerBox]) throws -> GazetteerAnswer {
    let statement = try database.prepare(
      "SELECT name, population FROM city WHERE " + Self.inBox)
    var answer = GazetteerAnswer()
    for box in boxes {
      statement.bind(box.south, box.north, box.west, box.east)
      while try statement.step() { answer.add(statement.text(0), statement.integer(1)) }
    }
    return answer
  }

  func group() throws -> GazetteerAnswer {
    let statement = try database.prepare(
      "SELECT countryID, count(*), sum(population), max(elevation) FROM city GROUP BY countryID")
    var answer = GazetteerAnswer()
    while try statement.step() {
      answer.add(
        group: statement.integer(0), statement.integer(1), statement.integer(2),
        statement.isNull(3) ? -1 : statement.integer(3))
    }
    return answer
  }

  func sum() throws -> GazetteerAnswer {
    let statement = try database.prepare("SELECT sum(population) FROM city")
    var answer = GazetteerAnswer()
    while try statement.step() {
      answer = GazetteerAnswer(count: 1, checksum: UInt64(statement.integer(0)))
    }
    return answer
  }

  func scan() throws -> GazetteerAnswer {
    try count("elevation > 1000")
  }

  /// Rewritten as an equivalent query. Evaluated for each city, it would take SQLite minutes.
  func amongLarge() throws -> GazetteerAnswer {
    try count(
      """
      countryID IN (SELECT countryID FROM city WHERE population > 200000
      GROUP BY countryID HAVING count(*) > 3)
      """)
  }

  private func count(_ condition: String) throws -> GazetteerAnswer {
    let statement = try database.prepare("SELECT count(*) FROM city WHERE " + condition)
    var answer = GazetteerAnswer()
    while try statement.step() { answer.count = Int(statement.integer(0)) }
    return answer
  }

  func contains(_ text: String) throws -> GazetteerAnswer { try contains(text, "asciiName") }

  func containsInName(_ text: String) throws -> GazetteerAnswer { try contains(text, "name") }

  private func contains(_ text: String, _ column: String) throws -> GazetteerAnswer {
    let statement = try database.prepare("SELECT count(*) FROM city WHERE \(column) LIKE ?")
    statement.bind("%\(text)%")
    var answer = GazetteerAnswer()
    while try statement.step() { answer.count = Int(statement.integer(0)) }
    return answer
  }

  func match(_ words: [String]) throws -> GazetteerAnswer {
    let statement = try database.prepare("SELECT count(*) FROM words WHERE words MATCH ?")
    var answer = GazetteerAnswer()
    for word in words {
      statement.bind("\"\(word)\"")
      while try statement.step() { answer.count += Int(statement.integer(0)) }
    }
    return answer
  }

  func delete(upTo last: Int64) throws -> GazetteerAnswer {
    let statement = try database.prepare("DELETE FROM city WHERE geonameID <= ?")
    statement.bind(last)
    try statement.run()
    let rest = try database.prepare("SELECT count(*), sum(population) FROM city")
    var answer = GazetteerAnswer()
    while try rest.step() {
      answer = GazetteerAnswer(
        count: Int(rest.integer(0)), checksum: UInt64(rest.integer(1)))
    }
    return answer
  }
}
