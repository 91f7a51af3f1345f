import Foundation
import LMDB
import Testing

@testable import ArborStore

@Suite struct StoreErrorTests {
  @Test("LMDB errors are converted to store errors")
  func theEngineSaysWhatItMeansForAStore() {
    func name(_ error: LMDBError) -> String {
      switch StoreError(error, path: "a") {
      case .diskFull: "full"
      case .inUse(path: "a"): "in use"
      case .closed: "closed"
      case .readOnly(path: "a"): "read only"
      case .notAStore(path: "a", _): "foreign"
      case .missing(path: "a"): "missing"
      case .corrupted: "damaged"
      case .invalidPath("a"): "no path"
      case .unsupportedEngine(path: "a", let same): same == error ? "version" : "other"
      case .fileReplaced(path: "a"): "replaced"
      case .engine(let same): same == error ? "engine" : "other"
      default: "other"
      }
    }
    let expected: [(String, [LMDBError])] = [
      ("full", [.diskFull]), ("in use", [.inUse]), ("closed", [.closed]),
      ("read only", [.readOnlyEnvironment, .readOnlyFileSystem, .accessDenied, .notPermitted]),
      ("foreign", [.invalid, .danglingLink, .isDirectory, .notRegularFile, .hardLinked]),
      ("no path", [.invalidPath]), ("replaced", [.fileReplaced]),
      ("version", [.foreignEngine(found: "1.0.0"), .foreignFormat(version: 2)]),
      ("missing", [.noSuchFile, .emptyFile]),
      ("damaged", [.fileTooSmall, .truncated, .corrupted, .pageNotFound]),
      (
        "engine",
        [
          .panic, .mapFull, .readersFull, .growthBlocked, .forkedProcess, .badTransaction,
          .versionMismatch,
        ]
      ),
    ]
    for (kind, errors) in expected {
      for error in errors { #expect(name(error) == kind, "\(error)") }
    }
    #expect(StoreError(.truncated).isCorruption && !StoreError(.diskFull).isCorruption)
  }

  @Test("An exhausted disk or quota is reported as a full disk by every system call")
  func aFullDiskIsOneWhateverCallFindsIt() {
    for (code, isFull) in [(ENOSPC, true), (EDQUOT, true), (EACCES, false), (EIO, false)] {
      switch StoreError.failed("rename", "a", errno: code) {
      case .diskFull: #expect(isFull, "\(code)")
      case .inputOutput(operation: "rename", path: "a", errno: code): #expect(!isFull, "\(code)")
      case let other: Issue.record(other)
      }
    }
  }
}
