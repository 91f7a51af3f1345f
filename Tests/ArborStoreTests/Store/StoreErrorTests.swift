import ArborStore
import LMDB
import Testing

@Suite struct StoreErrorTests {
  @Test func theEngineSaysWhatItMeansForAStore() {
    func name(_ error: LMDBError) -> String {
      switch StoreError(error, path: "a") {
      case .diskFull: "full"
      case .inUse(path: "a"): "in use"
      case .closed: "closed"
      case .readOnly(path: "a"): "read only"
      case .notAStore(path: "a", _): "foreign"
      case .missing(path: "a"): "missing"
      case .corrupted: "damaged"
      case .engine(let same): same == error ? "engine" : "other"
      default: "other"
      }
    }
    let expected: [(String, [LMDBError])] = [
      ("full", [.diskFull]), ("in use", [.inUse]), ("closed", [.closed]),
      ("read only", [.readOnlyEnvironment, .readOnlyFileSystem, .accessDenied, .notPermitted]),
      ("foreign", [.invalid, .versionMismatch, .isDirectory, .notRegularFile, .hardLinked]),
      ("missing", [.noSuchFile]),
      ("damaged", [.fileTooSmall, .truncated, .corrupted, .pageNotFound]),
      (
        "engine", [.panic, .mapFull, .readersFull, .growthBlocked, .forkedProcess, .badTransaction]
      ),
    ]
    for (kind, errors) in expected {
      for error in errors { #expect(name(error) == kind, "\(error)") }
    }
    #expect(StoreError(.truncated).isCorruption && !StoreError(.diskFull).isCorruption)
  }
}
