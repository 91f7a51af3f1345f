import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborPostgres

private let hasOpenSSL = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

/// A server that uses TLS with a certificate that clients have to trust.
@Suite("Encrypted connections", .enabled(if: PostgresServer.isInstalled && hasOpenSSL))
struct EncryptionTests {
  /// Creates a self-signed certificate.
  private func make(_ certificate: String, key: String) throws {
    let made = try BuiltProgram(at: URL(filePath: "/usr/bin/openssl")).run([
      "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
      "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate,
    ])
    try #require(made.status == 0, "\(made.errors)")
  }

  @Test("An encrypted connection requires the server's root certificate")
  func aServerHasToBeTheOneThatItSays() throws {
    let folder = try TemporaryFolder()
    let (certificate, key) = (folder.path("certificate.pem"), folder.path("key.pem"))
    try make(certificate, key: key)
    let stranger = folder.path("stranger.pem")
    try make(stranger, key: folder.path("stranger-key.pem"))
    let port = try LocalServer().port
    let server = try PostgresServer(
      settings: ["listen_addresses": "127.0.0.1", "port": "\(port)", "ssl": "on"],
      files: ["server.crt": certificate, "server.key": key])
    let address = "host=127.0.0.1 port=\(port) dbname=postgres user=postgres"

    let known = try PostgresLog("\(address) sslmode=verify-full sslrootcert=\(certificate)")
    #expect(try known.head() == nil)
    let encrypted = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    #expect(try known.read(PostgresStatement(encrypted)).text(0, 0) == "true")

    var options = PostgresLog.Options()
    options.timeout = .seconds(5)
    let unknown = try PostgresLog(
      "\(address) sslmode=verify-full sslrootcert=/nowhere", options: options)
    let error = #expect(throws: ArborError.self) { try unknown.head() }
    #expect(error?.code == .logUnavailable)
    #expect(error?.message.contains("root certificate file \"/nowhere\" does not exist") == true)
    let strange = try PostgresLog(
      "\(address) sslmode=verify-full sslrootcert=\(stranger)", options: options)
    let refusal = #expect(throws: ArborError.self) { try strange.head() }
    #expect(refusal?.code == .logUnavailable)
    #expect(refusal?.message.contains("certificate verify failed") == true)
    withExtendedLifetime(server) {}
  }
}
