import ArborModel
@testable import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborObjects

@Suite struct StoreErrorConversionTests {
  static let difference = ManagedObjectModel(entities: [
    EntityDescription(name: "Tag", attributes: [AttributeDescription(name: "rank", type: .date)])
  ]).difference(
    to: ManagedObjectModel(
      entities: [EntityDescription(name: "Tag", className: "Mark")], versionIdentifier: "2"))

  static let refusal = MigrationRefusal(.options, difference)

  static let marker = MigrationMarker(
    plan: 1, target: ModelFingerprint(bits: 2), generation: 3,
    began: Date(timeIntervalSinceReferenceDate: 800_000_000))

  @Test(
    "Errors of the engine have a code and a message of whole sentences",
    arguments: [
      (.corrupted(entity: "A", object: nil, what: "bytes"), .corrupted),
      (.modelMismatch(Self.refusal), .modelMismatch), (.modelChanged, .modelChanged),
      (.migrationUnderWay(Self.marker), .migrationUnderWay),
      (.notReverted(Self.refusal), .notAllowed), (.duplicatesBuilt([]), .notUnique),
      (.formatTooNew(major: 9, minor: 1), .formatTooNew),
      (.notAStore(path: "p", what: "w"), .notAStore), (.readOnly(path: nil), .readOnly),
      (.missing(path: "p"), .fileUnreadable), (.inUse(path: "p"), .inUse), (.closed, .closed),
      (.fileReplaced(path: "p"), .fileReplaced), (.invalidPath(""), .invalidArgument),
      (
        .unsupportedEngine(path: "p", what: .foreignEngine(found: "1.0.0")), .unsupportedEngine
      ),
      (.diskFull(), .diskFull),
      (.inputOutput(operation: "open", path: "p", errno: 13), .inputOutput),
      (.foreignObject("X."), .invalidArgument), (.exhausted("X."), .limitExceeded),
    ] as [(StoreError, ArborError.Code)])
  func everyErrorHasACodeAndASentence(error: StoreError, code: ArborError.Code) {
    let converted = ArborError(opening: error)
    #expect(converted.code == code)
    #expect(converted.message.hasSuffix(".") && !converted.message.hasSuffix(".."))
  }

  @Test(
    "Messages end with exactly one period",
    arguments: ["The header is damaged.", "the header is damaged", "The file is short.."])
  func noMessageHasTwoFullStops(what: String) throws {
    try ObjectStore.useOffice { store throws in
      let number = store.makeContext().insert(Employee.self).number
      let errors: [StoreError] = [
        .corrupted(entity: "A", object: nil, what: what),
        .corrupted(entity: "Employee", object: number, what: what),
        .notAStore(path: "p", what: what), .invalidChange(number, what: what), .modelChanged,
        .migrationUnderWay(Self.marker), .formatTooNew(major: 9, minor: 1), .readOnly(path: "p"),
        .missing(path: "p"),
        .inUse(path: nil), .closed, .diskFull(path: "p"), .metadataExists("seed"),
        .inputOutput(operation: "open", path: "p", errno: 13), .modelMismatch(Self.refusal),
        .notUnique([
          UniquenessViolation(
            entity: "Employee", properties: ["name"], existing: number, offending: number)
        ]),
        .conflict([CommitConflict(number: number, baseVersion: 1, currentRecord: nil)]),
        .missingTargets([MissingTarget(owner: number, relationship: "manager", target: number)]),
        .stillLinked([StillLinked(deleted: number, owner: number, relationship: "manager")]),
      ]
      for error in errors {
        for message in [ArborError(error, in: store.engine), ArborError(opening: error)].map(
          \.message)
        {
          #expect(!message.contains("..") && !message.contains(".;"), "\(message)")
          #expect(message.hasSuffix("."), "\(message)")
        }
      }
    }
  }

  @Test("Messages are complete sentences")
  func messagesAreWhole() throws {
    let what = "The header is damaged."
    #expect(
      ArborError(opening: .corrupted(entity: nil, object: nil, what: what)).message
        == "The store is damaged: the header is damaged. Restore a backup, or recover intact "
        + "objects with PersistentStore.salvage(_:to:model:) or lmdb-inspect salvage STORE TARGET; "
        + "lmdb-inspect check lists the damage.")
    #expect(
      ArborError(opening: .notAStore(path: "a.txt", what: "The file has no header.")).message
        == "a.txt is not a store: the file has no header. Choose another file.")
    #expect(
      ArborError(opening: .migrationUnderWay(Self.marker)).message
        == "The store has been migrating to another model since 2026-05-09T06:13:20Z and cannot be "
        + "written until the migration is complete. Open the store with that model to continue the "
        + "migration, open it read-only, or abandon the migration with "
        + "PersistentStore.revertMigration(_:).")
  }

  @Test("A missing file and a missing folder have different messages")
  func missingFilesAndFoldersAreToldApart() throws {
    let folder = try TemporaryFolder()
    let (file, inner) = (folder.path("a.arbor"), folder.path("none/a.arbor"))
    #expect(
      ArborError(opening: .missing(path: file)).message
        == "There is no store at \(file). Check the path, or pass a model to create the store.")
    #expect(
      ArborError(opening: .missing(path: inner)).message
        == "There is no folder \(folder.path("none")). Check the path, or create the folder.")
  }

  @Test(
    "The message about missing permissions names the file or folder", .enabled(if: geteuid() == 0))
  func missingPermissionsAreNamed() async throws {
    let folder = try TemporaryFolder()
    #expect(chmod(folder.url.path, 0o777) == 0)
    for (name, mode) in [("secret", 0o600), ("fixed", 0o644), ("open", 0o666)] as [(_, mode_t)] {
      let path = folder.path(name)
      try Data().write(to: URL(filePath: path))
      #expect(chmod(path, mode) == 0)
    }
    await #expect(processExitsWith: .exitCode(0)) { [path = folder.url.path as String] in
      func message(_ name: String) -> String {
        ArborError(opening: .readOnly(path: "\(path)/\(name)")).message
      }
      let (secret, fixed, open) = ("\(path)/secret", "\(path)/fixed", "\(path)/open")
      guard setuid(4711) == 0 else { exit(1) }
      guard message("secret") == "\(secret) cannot be read. Check its permissions." else { exit(2) }
      guard
        message("fixed")
          == "\(fixed) is not writable. Check its permissions, or open the store read-only."
      else { exit(3) }
      guard
        message("open") == "\(open) is read-only. Open it for writing, or check its permissions."
      else { exit(4) }
    }
    #expect(chmod(folder.url.path, 0o755) == 0)
    await #expect(processExitsWith: .exitCode(0)) { [path = folder.url.path as String] in
      guard setuid(4711) == 0 else { exit(1) }
      guard
        ArborError(opening: .readOnly(path: "\(path)/open")).message
          == "The folder \(path) is not writable. Check its permissions, or set "
          + "StoreOptions.isImmutable to read a store that no process changes."
      else { exit(2) }
      guard
        ArborError(opening: .readOnly(path: "\(path)/new")).message
          == "The folder \(path) is not writable. Check its permissions, or create the store in "
          + "another folder."
      else { exit(3) }
    }
  }

  @Test(
    "In a folder that is not writable, a store without a lock file can be opened as immutable",
    .enabled(if: geteuid() == 0))
  func immutabilityIsNamed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("staff.arbor")
    try PersistentStore(for: Office.classes, at: .path(path)).close()
    unlink(path + "-lock")
    #expect(chmod(path, 0o666) == 0 && chmod(folder.url.path, 0o755) == 0)
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      guard setuid(4711) == 0 else { exit(1) }
      do throws(ArborError) {
        try PersistentStore(at: .path(path)).close()
        exit(2)
      } catch {
        let message =
          "The lock file \(path)-lock is missing and cannot be created, because its folder is not "
          + "writable. Open the store as a user who can write to that folder. If no process "
          + "changes the store, set isImmutable in the options to read it without a lock file."
        guard error.message == message else { exit(3) }
      }
      var options = StoreOptions()
      options.isImmutable = true
      guard let store = try? PersistentStore(at: .path(path), options: options) else { exit(4) }
      store.close()
    }
  }

  @Test("A store in memory names the temporary folder that cannot be used")
  func temporaryFoldersAreNamed() async throws {
    await #expect(processExitsWith: .exitCode(0)) {
      setenv("TMPDIR", "/nowhere/tmp", 1)
      do throws(ArborError) {
        try PersistentStore(for: Office.classes, at: .inMemory).close()
        exit(1)
      } catch {
        let message =
          "A store in memory needs a temporary folder, but the folder \"/nowhere/tmp\" cannot be "
          + "used: No such file or directory. Set the environment variable TMPDIR to the path of "
          + "a writable folder."
        exit(error.code == .inputOutput && error.message == message ? 0 : 2)
      }
    }
  }

  @Test("A model mismatch lists each change")
  func anotherModelIsToldChangeByChange() {
    let error = ArborError(opening: .modelMismatch(Self.refusal))
    #expect(
      error.description == """
        The store has a different model, and the options don't allow migrating the store. Open it \
        with its own model, set options.migration to migrate it, or set options.onMismatch to \
        replace it.
        - Tag.rank: removed, its values are dropped (lightweight)
        """)
    #expect(error.violations.map(\.entity) == ["Tag"])
    #expect(error.violations.map(\.keyPath) == ["rank"])
  }

  @Test("Errors name the objects that they concern")
  func subjectsAreNamed() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (ada, bob) = (context.insert(Employee.self), context.insert(Employee.self))
      let conflict = ArborError(
        .conflict([
          CommitConflict(number: ada.number, baseVersion: 1, currentRecord: nil),
          CommitConflict(number: bob.number, baseVersion: 1, currentRecord: [1]),
        ]), in: store.engine)
      #expect(conflict.code == .conflict)
      #expect(conflict.violations.map(\.objectID) == [ada.objectID, bob.objectID])
      #expect(conflict.violations[0].message.contains("deleted"))
      let missing = ArborError(
        .missingTargets([
          MissingTarget(owner: ada.number, relationship: "manager", target: bob.number)
        ]), in: store.engine)
      #expect(missing.code == .conflict && missing.keyPath == "manager")
      #expect((missing.underlying as? ArborError.OtherObject)?.objectID == bob.objectID)
      #expect(missing.objectID == ada.objectID && missing.violations.count == 1)
      let linked = ArborError(
        .stillLinked([
          StillLinked(deleted: bob.number, owner: ada.number, relationship: "manager")
        ]), in: store.engine)
      #expect(linked.code == .conflict && linked.objectID == bob.objectID)
      context.rollback()
      try context.commit()
    }
  }
}
