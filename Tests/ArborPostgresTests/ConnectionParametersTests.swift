import ArborModel
import Testing

@testable import ArborPostgres

@Suite struct ConnectionParametersTests {
  @Test("Several hosts and ports are parsed")
  func takesHostsApart() throws {
    let parameters = try ConnectionParameters("host=a,b,/tmp/c port=1,2,3 dbname=arbor user=ada")
    #expect(parameters.servers.map { $0["host"] } == ["a", "b", "/tmp/c"])
    #expect(parameters.servers.map { $0["port"] } == ["1", "2", "3"])
    #expect(parameters.servers.allSatisfy { $0["target_session_attrs"] == "read-write" })
    #expect(parameters.servers.allSatisfy { $0["user"] == "ada" && $0["dbname"] == "arbor" })
    #expect(parameters.name == "PostgreSQL database arbor on a:1,b:2,/tmp/c:3")
    #expect(parameters.connectTimeout == nil)
  }

  @Test("URIs and TLS parameters are parsed")
  func takesURIsAndTLS() throws {
    let parameters = try ConnectionParameters(
      "postgresql://ada:p%40s?s@a,b:5433/arbor?sslmode=verify-full&connect_timeout=3"
        + "&target_session_attrs=primary")
    #expect(parameters.servers.map { $0["host"] } == ["a", "b"])
    #expect(parameters.servers.map { $0["port"] } == ["", "5433"])
    #expect(parameters.servers[1]["password"] == "p@s?s")
    #expect(parameters.servers[1]["sslmode"] == "verify-full")
    #expect(parameters.servers[1]["target_session_attrs"] == "primary")
    #expect(parameters.connectTimeout == 3)
    #expect(parameters.name == "PostgreSQL database arbor on a,b:5433")
  }

  @Test("Missing parameters are omitted")
  func leavesOutWhatIsNotSaid() throws {
    let parameters = try ConnectionParameters("")
    #expect(parameters.servers.count == 1)
    #expect(parameters.servers[0]["host"] == nil)
    #expect(parameters.name == "PostgreSQL")
    let addresses = try ConnectionParameters("hostaddr=10.0.0.1,10.0.0.2 port=5433")
    #expect(addresses.servers.map { $0["hostaddr"] } == ["10.0.0.1", "10.0.0.2"])
    #expect(addresses.name == "PostgreSQL on 10.0.0.1:5433,10.0.0.2:5433")
  }

  /// Each string contains what may be a part of a password. The error must not reveal any of it.
  @Test(
    "An invalid connection string is refused without revealing it",
    arguments: [
      "password=two words dbname=x", "hots=a password=secret", "postgresql://ada:se@cret@a/x",
      "postgresql://ada:se/cret@a/x", "postgresql://ada:se?c@ret@a/x", "host=a\0b", "host='a",
      "postgres://ada:se%zzcret@a/x",
    ])
  func refusesWhatNobodyReads(_ string: String) {
    let message =
      "The log's connection string is not a valid libpq connection string. Use \"host=a,b "
      + "dbname=staff\" and put values that contain spaces in single quotes, or use "
      + "\"postgresql://user@a,b/staff\" and percent-encode characters such as @ : / in the "
      + "password."
    let error = #expect(throws: ArborError.self) { try ConnectionParameters(string) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == message)
  }

  @Test(
    "Hosts, addresses and ports that don't match are refused",
    arguments: [
      "host=a,b hostaddr=10.0.0.1", "host=a,b port=1,2,3", "host=a port=x",
      "postgresql://ada:secret/x",
    ])
  func refusesWhatDoesNotGoTogether(_ string: String) {
    let message =
      "The hosts, addresses and ports in the log's connection string don't match. Specify one "
      + "address and one port for each host, or the same numeric port for all hosts."
    let error = #expect(throws: ArborError.self) { try ConnectionParameters(string) }
    #expect(error?.message == message)
  }

  @Test("Read-only servers are refused", arguments: ["read-only", "standby", "prefer-standby"])
  func refusesServersThatAreOnlyRead(_ target: String) {
    let error = #expect(throws: ArborError.self) {
      try ConnectionParameters("host=a target_session_attrs=\(target)")
    }
    #expect(
      error?.message
        == "The log's connection string requests read-only servers. Remove target_session_attrs to "
        + "use the primary server.")
  }
}
