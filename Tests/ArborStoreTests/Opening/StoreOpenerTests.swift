import ArborLocks
import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Opening files of every kind, and leaving rejected ones unchanged.
@Suite struct StoreOpenerTests {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel
  private var path: String { folder.path("office.arbor") }

  init() throws {
    folder = try TemporaryFolder()
    model = try OfficeModel.make()
  }

  private func open(
    _ model: ManagedObjectModel?, _ adjust: (inout StoreOpening) -> Void = { _ in }
  ) throws -> StoreEngine {
    var opening = StoreOpening(.file(path), model: model)
    adjust(&opening)
    return try StoreEngine.open(opening)
  }

  private var otherModel: ManagedObjectModel {
    get throws {
      var other = model
      other.entities.removeAll { $0.name == "Badge" }
      for entityIndex in other.entities.indices {
        other.entities[entityIndex].relationships.removeAll { $0.destination == "Badge" }
      }
      other.entities[1].attributes[1].type = .integer64
      return other
    }
  }

  /// Creates and closes a store with one tag and one badge.
  private func makeStore() throws {
    let file = try open(model)
    defer { file.close() }
    let draft = Draft(file)
    try draft.insert("Tag", ["name": "kept"])
    try draft.insert("Badge", [:])
    try draft.commit()
  }

  private func failure(_ body: () throws -> StoreEngine) -> StoreError? {
    do {
      try body().close()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  private var files: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()) ?? []
  }

  // MARK: New and known stores

  @Test("A new store is readable and writable by its owner only")
  func makesAStoreForItsOwnerOnly() throws {
    let file = try open(model)
    #expect(files == ["office.arbor", "office.arbor-lock"])
    for name in files {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    file.close()
    try TemporaryStore.check(path: path)
  }

  @Test("Different spellings of a path share one engine")
  func sharesAFileHoweverItIsSpelled() throws {
    let one = try open(model)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("link"), withDestinationPath: folder.url.path)
    let spelling = "link/./../\(folder.url.lastPathComponent)//office.arbor"
    let other = try StoreEngine.open(
      StoreOpening(.file(folder.path("") + "/" + spelling), model: model))
    #expect(one === other)
    one.close()
    let draft = Draft(other)
    try draft.insert("Tag", ["name": "still open"])
    try draft.commit()
    other.close()
    #expect(throws: StoreError.self) { try other.snapshot() }
    try TemporaryStore.check(path: path)
  }

  @Test("A store can be opened without a model, using the stored one")
  func takesTheModelFromTheFile() throws {
    try makeStore()
    let file = try open(nil)
    defer { file.close() }
    #expect(file.schema.model == model)
    let seed = file.schema.catalog.seed
    let schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model, seed: seed))
    #expect(file.schema.catalog == schema.catalog && seed != 0)
    #expect(file.lastSequence == 1)
  }

  @Test("A missing file isn't created without a model or by a reader")
  func needsAModelToMakeAStore() throws {
    guard case .missing? = failure({ try open(nil) }) else { throw DraftError("no refusal") }
    guard case .missing? = failure({ try open(model) { $0.isReadOnly = true } }) else {
      throw DraftError("no refusal")
    }
    #expect(files == [])
  }

  @Test("A read-only store rejects every write")
  func aReaderOfTheFileCannotWrite() throws {
    try makeStore()
    let file = try open(model) { $0.isReadOnly = true }
    defer { file.close() }
    let draft = Draft(file)
    try draft.insert(
      "Tag", ["name": "x"],
      number: ObjectNumber(entity: try draft.entity("Tag").number, sequence: 9))
    let entity = try draft.entity("Tag")
    for attempt in [
      { _ = try draft.commit() }, { _ = try file.takeNumbers(1, for: entity) },
      { _ = try file.takeUniqueIDs(1) }, { try file.purge() }, { try file.destroy() },
    ] {
      do {
        try attempt()
        Issue.record("written")
      } catch StoreError.readOnly {}
    }
  }

  @Test("A missing folder is reported with the path")
  func saysWhenTheFolderIsMissing() throws {
    let missing = folder.path("nowhere/office.arbor")
    do {
      try StoreEngine.open(StoreOpening(.file(missing), model: model)).close()
      Issue.record("opened")
    } catch StoreError.missing(let path) {
      #expect(path == missing)
    }
  }

  // MARK: Other models

  @Test("A model that can't be migrated is rejected with its obstacles")
  func refusesAnotherModelAndSaysWhatDiffers() throws {
    try makeStore()
    let before = try Data(contentsOf: URL(filePath: path))
    let other = try otherModel
    guard case .modelMismatch(let refusal)? = failure({ try open(other) }) else {
      throw DraftError("no refusal")
    }
    #expect(refusal.cause == .obstacles)
    #expect(refusal.obstacles.contains { $0.message.contains("list \"Badge\"") })
    // Differences that can be migrated are not reported as obstacles.
    #expect(!refusal.obstacles.contains { $0.property == "age" })
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    let file = try open(model)
    defer { file.close() }
    // A store that is open elsewhere in the process is neither shared nor erased.
    guard
      case .modelMismatch? = failure({ try open(other) { $0.replacesOtherModels = true } })
    else { throw DraftError("no refusal") }
    #expect(try Draft(file).entity("Tag").name == "Tag")
    try TemporaryStore.check(path: path)
  }

  @Test("A store with another model is erased if requested")
  func erasesForAnotherModelWhereItIsTold() throws {
    try makeStore()
    let file = try open(otherModel) { $0.replacesOtherModels = true }
    #expect(file.lastSequence == 0)
    #expect(try file.schema.model == otherModel)
    file.close()
    #expect(files == ["office.arbor", "office.arbor-lock"])
    try TemporaryStore.check(path: path)
  }

  // MARK: Files that are not stores

  @Test(
    "Files that are not stores are refused and unchanged",
    arguments: [
      ("text of some length, more than a header at any rate\n", true), ("\u{0}\u{0}", false),
    ])
  func refusesOtherFiles(content: String, isForeign: Bool) throws {
    let bytes = Data(content.utf8)
    try bytes.write(to: URL(filePath: path))
    switch failure({ try open(model) }) {
    case .notAStore?: #expect(isForeign)
    // Zeros may be the beginning of a store that was never written.
    case .corrupted?: #expect(!isForeign)
    case let other: Issue.record("\(String(describing: other))")
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
  }

  @Test("A directory is refused")
  func refusesADirectory() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    guard case .notAStore? = failure({ try open(model) }) else { throw DraftError("no refusal") }
  }

  private func makeForeignDatabase() throws {
    var options = EnvironmentOptions()
    options.create = true
    let environment = try Environment.open(path: path, options: options)
    try environment.write { transaction in
      _ = try transaction.createDatabase("settings", [])
    }
    try environment.close()
  }

  @Test("The database of another program is rejected")
  func refusesADatabaseOfAnotherProgram() throws {
    try makeForeignDatabase()
    guard case .notAStore? = failure({ try open(model) }) else { throw DraftError("no refusal") }
  }

  @Test("A new store replaces an empty file", arguments: [false, true])
  func emptyFile(isLink: Bool) throws {
    let file = isLink ? folder.path("elsewhere.arbor") : path
    try Data().write(to: URL(filePath: file))
    if isLink {
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: file)
    }
    for adjust: (inout StoreOpening) -> Void in [{ $0.isReadOnly = true }, { $0.model = nil }] {
      guard case .missing? = failure({ try open(model, adjust) }) else {
        throw DraftError("no refusal")
      }
      #expect(try Data(contentsOf: URL(filePath: file)).isEmpty)
    }
    try open(model).close()
    #expect(!files.contains { $0.contains("damaged") })
    try TemporaryStore.check(path: file)
  }

  @Test("Several threads that open an empty file share one new store")
  func emptyFileAtOnce() throws {
    let model = model
    for _ in 0..<10 {
      try? FileManager.default.removeItem(atPath: path)
      try Data().write(to: URL(filePath: path))
      let path = path
      let opened = Lock<[StoreEngine]>([])
      DispatchQueue.concurrentPerform(iterations: 6) { _ in
        do {
          let file = try StoreEngine.open(StoreOpening(.file(path), model: model))
          opened.withLock { $0.append(file) }
        } catch { Issue.record("\(error)") }
      }
      let files = opened.withLock { $0 }
      #expect(files.count == 6 && Set(files.map(\.id)).count == 1)
      for file in files { file.close() }
      try TemporaryStore.check(path: path)
    }
  }

  @Test(
    "Text, another program's database, and a foreign header are set aside if requested",
    arguments: 0..<3)
  func setsAsideWhatIsNoStoreWhereItIsTold(kind: Int) throws {
    switch kind {
    case 0:
      try Data("text of some length, more than a header\n".utf8).write(to: URL(filePath: path))
    case 1: try makeForeignDatabase()
    default: _ = try openWithHeader { $0[0] ^= 1 }
    }
    let bytes = try Data(contentsOf: URL(filePath: path))
    guard case .notAStore? = failure({ try open(model) }) else { throw DraftError("no refusal") }
    let setAside: (inout StoreOpening) -> Void = { $0.setsDamagedAside = true }
    #expect(
      failure {
        try open(model) {
          setAside(&$0); $0.isReadOnly = true
        }
      } != nil)
    #expect(failure { try open(nil, setAside) } != nil)
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    try open(model, setAside).close()
    let kept = try #require(files.first { $0.hasPrefix("office.arbor.damaged-") })
    #expect(try Data(contentsOf: URL(filePath: folder.path(kept))) == bytes)
    try TemporaryStore.check(path: path)
  }

  @Test("A folder at the store's path is never set aside")
  func leavesAFolderWhereItIsToldToSetAside() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let error = failure { try open(model) { $0.setsDamagedAside = true } }
    guard case .notAStore? = error else { throw DraftError("\(String(describing: error))") }
    #expect(files == ["office.arbor"])
  }

  // MARK: Paths

  @Test(
    "A symbolic link to a missing file is rejected", .timeLimit(.minutes(40)),
    arguments: [false, true])
  func refusesALinkThatLeadsNowhere(setsDamagedAside: Bool) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.path("nowhere.arbor"))
    let error = failure { try open(model) { $0.setsDamagedAside = setsDamagedAside } }
    guard case .notAStore(path, let what)? = error else { throw DraftError("no refusal") }
    #expect(
      what
        == "The path is a symbolic link whose target doesn't exist. Remove the link, or make it "
        + "point to a store.")
    #expect(files == ["office.arbor"])
  }

  @Test(
    "An empty path or one with a NUL character is rejected", .timeLimit(.minutes(40)),
    arguments: ["", "a\0b", "\0"])
  func refusesAPathThatNoFileHas(name: String) throws {
    let path = name.isEmpty ? "" : folder.path("") + "/" + name
    let error = failure { try StoreEngine.open(StoreOpening(.file(path), model: model)) }
    guard case .invalidPath(path)? = error else { throw DraftError("\(String(describing: error))") }
    #expect(files == [])
  }

  @Test("A path that ends with a slash isn't used as the path of a file")
  func refusesAPathThatEndsWithASlash() throws {
    let error = failure { try StoreEngine.open(StoreOpening(.file(path + "/"), model: model)) }
    guard case .notAStore? = error else { throw DraftError("\(String(describing: error))") }
    #expect(files == [])
  }

  // MARK: Damaged stores

  /// Changes the stored header and opens the store. Returns the error.
  private func openWithHeader(_ change: (inout [UInt8]) -> Void) throws -> StoreError? {
    try makeStore()
    let file = try open(model)
    try file.environment.write { transaction in
      let key = Array(StoreFormat.headerKey.utf8)
      var header = try StoreHeader.read(transaction.reader)
      header.transactionID = transaction.id
      var bytes = header.encoded()
      change(&bytes)
      try key.withUnsafeBytes { key in
        try bytes.withUnsafeBytes { _ = try transaction.put(.unnamed, key: key, value: $0) }
      }
    }
    file.close()
    return failure { try open(model) }
  }

  @Test("A later format is refused")
  func refusesALaterFormat() throws {
    let error = try openWithHeader {
      $0[8] = 6
      $0[30] ^= 1
    }
    guard case .formatTooNew(major: 6, minor: Int(StoreFormat.minorVersion))? = error else {
      throw DraftError("\(String(describing: error))")
    }
  }

  @Test(
    "A format from before the first release is rejected with its version",
    arguments: 1...4 as ClosedRange<UInt8>)
  func refusesAnEarlierFormat(major: UInt8) throws {
    // The checksum of another format is elsewhere.
    let error = try openWithHeader {
      $0[8] = major
      $0[30] ^= 1
    }
    guard case .notAStore(_, let what)? = error else {
      throw DraftError("\(String(describing: error))")
    }
    #expect(
      what == "The file has format \(major).\(StoreFormat.minorVersion), which predates the first "
        + "release. Only the program that wrote the file can read it.")
  }

  @Test("A damaged header is refused")
  func refusesDamagedHeaders() throws {
    let error = try openWithHeader { $0[30] ^= 1 }
    guard case .corrupted? = error else { throw DraftError("\(String(describing: error))") }
    // Setting the store aside makes room for a new one.
    try open(model) { $0.setsDamagedAside = true }.close()
    try TemporaryStore.check(path: path)
  }

  @Test("The header of another file type is rejected")
  func refusesHeadersOfOthers() throws {
    let foreign = try openWithHeader { $0[0] ^= 1 }
    guard case .notAStore? = foreign else { throw DraftError("\(String(describing: foreign))") }
  }

  @Test("A store in another byte order is refused")
  func refusesTheOtherByteOrder() throws {
    let error = try openWithHeader { $0.swapAt(12, 13) }
    guard case .notAStore? = error else { throw DraftError("\(String(describing: error))") }
  }

  @Test("Writes by another program are detected on commit and opening")
  func noticesAnotherProgramsWrites() throws {
    try makeStore()
    let file = try open(model)
    try file.environment.write { transaction in
      try transaction.clear(file.databases.records(0 + file.schema.entities.count - 1))
    }
    let draft = Draft(file)
    do {
      try draft.insert("Tag", ["name": "x"])
      try draft.commit()
      Issue.record("written")
    } catch StoreError.corrupted {}
    file.close()
    guard case .corrupted? = failure({ try open(model) }) else { throw DraftError("no refusal") }
  }

  @Test("A file that lacks a database of the model is rejected")
  func refusesAFileThatLacksADatabase() throws {
    try makeStore()
    let file = try open(model)
    let vandal = Vandal(file: file)
    try vandal.write { transaction, _ in
      try transaction.deleteDatabase(file.databases.history)
    }
    file.close()
    guard case .corrupted? = failure({ try open(model) }) else { throw DraftError("no refusal") }
  }

  @Test("Opening with full verification detects a damaged index")
  func verifiesInFullWhereItIsTold() throws {
    try makeStore()
    let file = try open(model)
    let vandal = Vandal(file: file)
    let index = try vandal.index("Tag", "name")
    try vandal.write { transaction, _ in try transaction.clear(index) }
    file.close()
    try open(model).close()
    guard case .corrupted? = failure({ try open(model) { $0.checksEveryPage = true } }) else {
      throw DraftError("no refusal")
    }
  }
}
