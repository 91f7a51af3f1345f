import ArborModel
@testable import ArborStore
import ArborLocks
import Foundation
import LMDB
import TestSupport
import Testing

/// Creating a store atomically and only once.
@Suite struct StoreCreationTests {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel

  init() throws {
    folder = try TemporaryFolder()
    model = try OfficeModel.make()
  }

  private var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()) ?? []
  }

  private func create(_ path: String) throws -> Bool {
    try StoreCreation.create(
      at: path, model, options: EnvironmentOptions())
  }

  @Test("Creating a store that already exists returns false and keeps it")
  func theSecondCreatorLoses() throws {
    let path = folder.path("a.arbor")
    #expect(try create(path))
    let first = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    let id = first.id
    first.close()
    #expect(try !create(path))
    let same = try StoreEngine.open(StoreOpening(.file(path), model: model))
    #expect(same.id == id)
    same.close()
    #expect(names == ["a.arbor", "a.arbor-lock"])
    try TemporaryStore.check(path: path)
  }

  @Test("Concurrent openings of a new file create one store and share its engine")
  func manyThreadsOpenOneNewStore() throws {
    let opening = StoreOpening(.file(folder.path("a.arbor")), model: model)
    let opened = Lock<[StoreEngine]>([])
    let group = DispatchGroup()
    for _ in 0..<8 {
      group.enter()
      Thread {
        do {
          let file = try StoreEngine.open(opening)
          opened.withLock { $0.append(file) }
        } catch {
          Issue.record(error)
        }
        group.leave()
      }.start()
    }
    group.wait()
    let files = opened.withLock { $0 }
    #expect(files.count == 8 && files.allSatisfy { $0 === files[0] })
    for file in files { file.close() }
    #expect(throws: StoreError.self) { try files[0].snapshot() }
    #expect(names == ["a.arbor", "a.arbor-lock"])
  }

  /// Leftovers of dead creators are removed when a store is created or destroyed, and when it is
  /// opened for writing, but not while a creator is alive.
  @Test("Leftovers of dead creators are removed")
  func leftoversGo() throws {
    let path = folder.path("a.arbor")
    func leave() throws {
      try Data("half".utf8).write(to: folder.url.appending(path: "a.arbor.new-12345678"))
    }
    let live = try UnfinishedFile(beside: path)
    let liveName = String(live.path.split(separator: "/").last ?? "")
    for _ in 0..<2 {
      try leave()
      try StoreEngine.open(StoreOpening(.file(path), model: model)).close()
      #expect(names == ["a.arbor", "a.arbor-lock", liveName])
    }
    try leave()
    var reading = StoreOpening(.file(path), model: model)
    reading.isReadOnly = true
    try StoreEngine.open(reading).close()
    #expect(names.count == 4)
    try TemporaryStore.check(path: path)
    _ = consume live
    try StoreEngine.open(StoreOpening(.file(path), model: model)).destroy()
    #expect(names == [])
  }

  @Test("A store that can't be created leaves no files")
  func failuresLeaveNothingBehind() throws {
    let path = folder.path("a.arbor")
    do throws(StoreError) {
      try StoreCreation.install(at: path) { (temporary) throws(StoreError) in
        for name in [temporary, temporary + "-lock"] {
          #expect(FileManager.default.createFile(atPath: name, contents: Data([1])))
        }
        throw .diskFull()
      }
      Issue.record("installed")
    } catch .diskFull {
    } catch {
      Issue.record(error)
    }
    #expect(names == [])
  }

  @Test("Replacing a store creates a new one at its path")
  func replacingTakesThePlace() throws {
    let path = folder.path("a.arbor")
    #expect(try create(path))
    let old = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    let id = old.id
    old.close()
    try StoreCreation.replace(path, model, options: EnvironmentOptions())
    let new = try StoreEngine.open(StoreOpening(.file(path), model: model))
    #expect(new.id != id)
    new.close()
    try TemporaryStore.check(path: path)
  }
}
