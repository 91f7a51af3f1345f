import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

/// Full disks and folders without permissions. The tests run in child processes because limits and
/// privileges are process-wide.
@Suite("Full disks and missing permissions") struct StoreFaultTests {
  private static func expect(_ isTrue: Bool, _ code: Int32) {
    if !isTrue { exit(code) }
  }

  private static func setLimit(_ bytes: rlim_t) -> Bool {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: bytes, rlim_max: rlim_t.max)
    #if canImport(Glibc)
      return setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
    #else
      return setrlimit(RLIMIT_FSIZE, &limit) == 0
    #endif
  }

  /// Commits until the disk is full and returns the acknowledged objects.
  private static func fill(_ file: StoreEngine) throws -> [ObjectNumber] {
    let draft = Draft(file)
    let long = PropertyValue.string(String(repeating: "text ", count: 4000))
    var numbers: [ObjectNumber] = []
    for _ in 0..<5000 {
      do {
        let number = try draft.insert("Project", ["title": long])
        try draft.commit()
        numbers.append(number)
      } catch StoreError.diskFull {
        return numbers
      }
    }
    return []
  }

  @Test("A store remains sound on a full disk, and deletions free space")
  func aFullDiskLeavesTheStoreSound() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let folder = try TemporaryFolder()
      let opening = StoreOpening(.file(folder.path("a.arbor")), model: try OfficeModel.make())
      let file = try StoreEngine.open(opening)
      Self.expect(Self.setLimit(3_000_000), 2)
      let numbers = try Self.fill(file)
      Self.expect(numbers.count > 20, 3)
      Self.expect(try file.check().isSound && file.check().recordCount == numbers.count, 4)
      // Deleting works on a full disk and frees space.
      let draft = Draft(file)
      for number in numbers.prefix(numbers.count / 2) { try draft.delete(number) }
      try draft.commit()
      try draft.insert("Tag", ["name": "small"])
      try draft.commit()
      file.close()
      Self.expect(Self.setLimit(rlim_t.max), 5)
      let again = try StoreEngine.open(opening)
      let report = try again.check()
      Self.expect(report.isSound, 6)
      Self.expect(report.recordCount == numbers.count - numbers.count / 2 + 1, 8)
      exit(7)
    }
  }

  @Test("A migration without enough space keeps the former model and succeeds once there is space")
  func aFullDiskLeavesTheFormerModel() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let folder = try TemporaryFolder()
      let path = folder.path("a.arbor")
      func opening(_ name: String, from former: String?) -> StoreOpening {
        StoreOpening(
          .file(path),
          model: ManagedObjectModel(entities: [
            EntityDescription(
              name: name,
              attributes: [AttributeDescription(name: "text", type: .string, isOptional: true)],
              fetchIndexes: former == nil
                ? [] : [FetchIndexDescription(name: "byText", elements: [.init("text")])],
              renamingIdentifier: former)
          ]))
      }
      let file = try StoreEngine.open(opening("Tag", from: nil))
      let draft = Draft(file)
      let text = String(repeating: "text ", count: 400)
      for number in 0..<600 { try draft.insert("Tag", ["text": .string("\(number) \(text)")]) }
      try draft.commit()
      file.close()
      let before = try Data(contentsOf: URL(filePath: path))
      Self.expect(Self.setLimit(rlim_t(before.count + 100_000)), 2)
      do {
        try StoreEngine.open(opening("Mark", from: "Tag")).close()
        exit(3)
      } catch StoreError.diskFull {}
      Self.expect(Self.setLimit(rlim_t.max), 4)
      let former = try StoreEngine.open(opening("Tag", from: nil))
      Self.expect(former.modelGeneration == 1, 5)
      Self.expect(try former.check().isSound && former.check().recordCount == 600, 6)
      former.close()
      let migrated = try StoreEngine.open(opening("Mark", from: "Tag"))
      Self.expect(try migrated.check().isSound && migrated.check().recordCount == 600, 8)
      exit(7)
    }
  }

  @Test("Creating a store on a full disk throws and leaves no files")
  func thereIsNoRoomForANewStore() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let folder = try TemporaryFolder()
      let opening = StoreOpening(.file(folder.path("a.arbor")), model: try OfficeModel.make())
      Self.expect(Self.setLimit(10_000), 2)
      do {
        try StoreEngine.open(opening).close()
        exit(3)
      } catch StoreError.diskFull {
        // Nothing is left behind.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        Self.expect(names == [], 4)
      }
      Self.expect(Self.setLimit(rlim_t.max), 5)
      try StoreEngine.open(opening).close()
      exit(7)
    }
  }

  #if os(Linux)
    @Test("If writing the root page fails, the commit is lost and the store must be reopened")
    func aFailureOfTheRootPageIsValidatedByTheFile() async {
      await #expect(processExitsWith: .exitCode(7)) {
        let folder = try TemporaryFolder()
        let path = folder.path("a.arbor")
        let opening = StoreOpening(.file(path), model: try OfficeModel.make())
        let file = try StoreEngine.open(opening)
        let draft = Draft(file)
        let tag = try draft.insert("Tag", ["name": "kept"])
        try draft.commit()
        // LMDB writes root pages through a separate descriptor.
        let full = open("/dev/full", O_RDWR)
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
          guard let descriptor = Int32(name),
            fcntl(descriptor, F_GETFL) & O_DSYNC == O_DSYNC
          else { continue }
          dup2(full, descriptor)
        }
        try draft.update(tag, ["name": "lost"])
        do {
          try draft.commit()
          exit(2)
        } catch StoreError.diskFull {}
        do {
          try file.snapshot().close()
          exit(3)
        } catch StoreError.closed {}
        let again = try StoreEngine.open(opening)
        Self.expect(try Draft(again).value(tag, "name") == "kept", 4)
        Self.expect(try again.check().isSound, 5)
        exit(7)
      }
    }

    @Test("A store in a folder without write permission is reported as read-only")
    func aFolderWithoutRightsIsCalledSo() async throws {
      // The superuser may write anywhere, so the test drops its privileges.
      try #require(getuid() == 0 || !FileManager.default.isWritableFile(atPath: "/"))
      await #expect(processExitsWith: .exitCode(7)) {
        let folder = try TemporaryFolder()
        let model = try OfficeModel.make()
        let opening = StoreOpening(.file(folder.path("a.arbor")), model: model)
        let made = try StoreEngine.open(opening)
        try Draft(made).insert("Tag", ["name": "kept"])
        made.close()
        Self.expect(chmod(folder.url.path, 0o555) == 0, 2)
        Self.expect(getuid() != 0 || setuid(65534) == 0, 3)
        do {
          try StoreEngine.open(StoreOpening(.file(folder.path("new.arbor")), model: model)).close()
          exit(4)
        } catch StoreError.readOnly {}
        do {
          try StoreEngine.open(opening).close()
          exit(5)
        } catch StoreError.readOnly {}
        exit(7)
      }
    }
  #endif
}
