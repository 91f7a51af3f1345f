import ArborModel
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Why a document could not be fetched.
enum SeedDownloadProblem: Error {
  case status(Int)
  case content(String)
  case tooLarge(limit: Int)
  case truncated(expected: Int, received: Int)
  case slow(seconds: TimeInterval)
  case redirects(limit: Int)
  case redirectLoop
  case redirected(SeedAddress.Problem)
  case empty
  case failed(any Error)
  /// The task that waits for it was told to stop.
  case interrupted(Interruption)

  var code: ArborError.Code {
    switch self {
    case .tooLarge, .slow, .redirects: .limitExceeded
    case .content: .invalidDocument
    case .redirected: .notAllowed
    case .interrupted(let interruption): ArborError(interruption).code
    case .failed(let error) where (error as? URLError)?.code == .timedOut: .limitExceeded
    default: .fileUnreadable
    }
  }

  /// What happened, then what to do.
  func message(of name: String) -> String {
    switch self {
    case .status(let status):
      "The server answers \(name) with the status \(status) rather than 200; correct the URL."
    case .content(let type):
      "\(name) is of the type \(type), which is no JSON; correct the URL, or let the server send "
        + "application/json."
    case .tooLarge(let limit):
      "\(name) is larger than \(limit) bytes, which is what is left for it; split it, or raise "
        + "maximumRemoteSize or maximumSize."
    case .truncated(let expected, let received):
      "\(name) ends after \(received) of \(expected) bytes; try again, or look after the server."
    case .slow(let seconds):
      "\(name) has not arrived within \(seconds) seconds; try again, or raise maximumTime."
    case .redirects(let limit):
      "\(name) is redirected more than \(limit) times; link the last URL, or raise "
        + "maximumRedirects."
    case .redirectLoop: "\(name) is redirected in a circle; correct the URL."
    case .redirected(let problem):
      "\(name) is redirected to a URL that is not followed. " + problem.message
    case .empty: "The server gives no answer to \(name); correct the URL."
    case .failed(let error): failure(of: name, error)
    case .interrupted(let interruption): ArborError(interruption).message
    }
  }

  private func failure(of name: String, _ error: any Error) -> String {
    switch (error as? URLError)?.code {
    case .timedOut: "\(name) has not arrived in time; try again, or raise maximumTime."
    case .cannotFindHost, .dnsLookupFailed: "There is no host of the name in \(name); correct it."
    case .cannotConnectToHost, .notConnectedToInternet:
      "The host of \(name) cannot be reached; see whether its server runs."
    case .networkConnectionLost:
      "The connection ended before all of \(name) had arrived; try again."
    default: "\(name) cannot be fetched; see the error beneath."
    }
  }

  var underlying: (any Error)? {
    if case .failed(let error) = self { error } else { nil }
  }
}
