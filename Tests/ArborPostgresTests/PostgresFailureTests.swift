import ArborModel
import Testing

@testable import ArborPostgres

@Suite struct PostgresFailureTests {
  @Test("Some failures leave the outcome unknown")
  func knowsWhatMayHaveBeenDone() {
    #expect(PostgresFailure(.lost, "").leavesDoubt)
    #expect(PostgresFailure(.doubtful, "").leavesDoubt)
    #expect(PostgresFailure(.refused, state: "40003", "").leavesDoubt)
    #expect(!PostgresFailure(.refused, state: "40001", "").leavesDoubt)
    #expect(!PostgresFailure(.unreachable, "").leavesDoubt)
    #expect(!PostgresFailure(ArborError(.corrupted, "")).leavesDoubt)
  }

  @Test("Failures that may succeed when retried are temporary")
  func knowsWhatAWaitMends() {
    for state in ["40001", "40P01", "57014", "25006", "57P01", "26000", "08006"] {
      #expect(PostgresFailure(.refused, state: state, "").isTemporary, "\(state)")
    }
    for state in ["42501", "53100", "22003", "23505"] {
      #expect(!PostgresFailure(.refused, state: state, "").isTemporary, "\(state)")
    }
    #expect(PostgresFailure(.unreachable, "").isTemporary)
    #expect(PostgresFailure(.unreachable, state: "57P03", "").isTemporary)
    #expect(!PostgresFailure(.unreachable, state: "28P01", "").isTemporary)
    #expect(!PostgresFailure(.unreachable, state: "3D000", "").isTemporary)
    #expect(PostgresFailure(.lost, "").isTemporary)
  }

  @Test("Failures that don't break the connection keep it")
  func keepsConnectionsThatServe() {
    #expect(PostgresFailure(.refused, state: "23505", "").leavesConnection)
    #expect(PostgresFailure(.doubtful, "").leavesConnection)
    #expect(!PostgresFailure(.refused, state: "25006", "").leavesConnection)
    #expect(!PostgresFailure(.lost, "").leavesConnection)
  }

  @Test("A failure contains its SQLSTATE")
  func namesTheState() {
    #expect(
      PostgresFailure(.refused, state: "53100", "No room.").clause == "No room (SQLSTATE 53100)")
  }
}
