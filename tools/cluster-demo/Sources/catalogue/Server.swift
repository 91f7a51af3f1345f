import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A client of a process that serves the catalog.
struct Server: Sendable {
  let port: Int

  /// The outcome of a request.
  enum Outcome: Sendable {
    /// The request was carried out.
    case done
    /// The request was not carried out.
    case refused(Int)
    /// It is unknown whether the request was carried out.
    case unknown
  }

  private static let session: URLSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 60
    return URLSession(configuration: configuration)
  }()

  /// Sends a value. Without a clear response, the outcome is unknown.
  func send(_ value: some Encodable, _ method: String, _ path: String) async -> Outcome {
    var request = URLRequest(url: url(path))
    request.httpMethod = method
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try? JSONEncoder().encode(value)
    guard let (_, response) = try? await Self.session.data(for: request),
      let status = (response as? HTTPURLResponse)?.statusCode
    else { return .unknown }
    switch status {
    case 200, 201: return .done
    case 404, 409, 422, 503: return .refused(status)
    default: return .unknown
    }
  }

  func get<PropertyValue: Decodable>(_ type: PropertyValue.Type, _ path: String) async throws
    -> PropertyValue
  {
    let (data, _) = try await Self.session.data(from: url(path))
    return try JSONDecoder().decode(type, from: data)
  }

  private func url(_ path: String) -> URL {
    var components = URLComponents()
    components.scheme = "http"
    components.host = "127.0.0.1"
    components.port = port
    components.path = "/\(path)"
    return components.url ?? URL(filePath: path)
  }
}
