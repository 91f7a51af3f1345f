import Foundation
import Testing
import LMDB

@Suite struct EnvironmentTests {
  @Test("Committed data is kept, and data of an aborted transaction isn't")
  func keepsWhatWasCommittedAndNothingElse() throws {
    struct Stop: Error {}
    let folder = try TemporaryFolder()
    do {
      let environment = try folder.environment()
      let database = try #require(try environment.openDatabase("plain", [], create: true))
      try environment.write { try $0.put(database, [1], [2, 3]) }
      #expect(throws: Stop.self) {
        try environment.write { transaction in
          try transaction.put(database, [2], [2])
          throw Stop()
        }
      }
      #expect(try environment.value(database, [1]) == [2, 3])
      #expect(try environment.value(database, [2]) == nil)
    }
    let environment = try folder.environment { $0.create = false }
    let database = try #require(try environment.openDatabase("plain", [], create: false))
    #expect(try environment.value(database, [1]) == [2, 3])
    #expect(try environment.statistics(of: database).entries == 1)
  }
}
