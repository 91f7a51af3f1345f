import Foundation
import Testing

@testable import LMDB

@Suite struct LMDBErrorTests {
  /// The errors that don't correspond to an error code of LMDB or the system.
  static let ownCases: [LMDBError] = [
    .hardLinked, .networkFileSystem, .emptyFile, .fileTooSmall, .truncated, .foreignPageSize,
    .inUse, .closed,
    .forkedProcess, .readOnlyEnvironment, .nestedWrite, .growthBlocked, .fileReplaced,
    .invalidPath, .danglingLink, .foreignEngine(found: "1.0.0"), .foreignFormat(version: 2),
    .foreignFormat(version: 999), .lockFile(LockFileProblem(path: "l", kind: .directory)),
    .lockFile(LockFileProblem(path: "l", kind: .notRegular)),
    .lockFile(LockFileProblem(path: "l", kind: .foreign(owner: 7))),
    .lockFile(LockFileProblem(path: "l", kind: .cannotBeMade)),
    .temporaryFolder(TemporaryFolderProblem(path: "t", errno: ENOENT)),
    .damaged(PageFinding(page: 7, database: "people", what: "its keys are not in ascending order")),
  ]

  static let systemCodes: [(code: Int32, error: LMDBError)] = [
    (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EFBIG, .diskFull), (ENOENT, .noSuchFile),
    (EROFS, .readOnlyFileSystem), (EACCES, .accessDenied), (EPERM, .notPermitted),
    (EISDIR, .isDirectory), (ELOOP, .notRegularFile), (EMFILE, .tooManyOpenFiles),
    (ENOMEM, .outOfMemory), (EINVAL, .invalidArgument), (EIO, .system(errno: EIO)),
    (ENOLCK, .system(errno: ENOLCK)),
  ]

  @Test("Every error code of the engine has its own case")
  func everyCodeOfTheEngineHasItsCase() {
    var seen = Set<LMDBError>()
    for code in Int32(-30799)...(-30780) {
      let error = LMDBError(code: code)
      #expect(error.code == code)
      #expect(seen.insert(error).inserted, "\(code)")
    }
    #expect(seen.count == 20)
    #expect(LMDBError(code: -30799) == .keyExists)
    #expect(LMDBError(code: -30780) == .badDatabase)
    #expect(LMDBError(code: -30792) == .mapFull)
  }

  @Test("System errors are mapped to cases")
  func conditionsOfTheSystemHaveTheirCases() {
    for (code, error) in Self.systemCodes { #expect(LMDBError(code: code) == error) }
    #expect(LMDBError.system(errno: EIO).code == EIO)
    #expect(LMDBError.hardLinked.code == nil)
  }

  @Test("Every error has its own cause and a remedy")
  func everyCaseSaysWhyAndWhatToDo() {
    let engine = (Int32(-30799)...(-30780)).map { LMDBError(code: $0) }
    let all = engine + Self.systemCodes.map(\.error) + Self.ownCases
    var causes: [String: LMDBError] = [:]
    for error in all {
      #expect(error.cause.hasSuffix(".") && error.cause.count > 20, "\(error)")
      #expect(error.remedy.hasSuffix(".") && error.remedy.count > 12, "\(error)")
      #expect(error.description == error.cause + " " + error.remedy)
      #expect(causes[error.cause] == nil || causes[error.cause] == error, "\(error)")
      causes[error.cause] = error
    }
    #expect(!causes.keys.contains("The operation failed."))
  }
}
