import Foundation
import TestSupport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The connection of two processes that run the same random history, each with half of its contexts.
///
/// Each process tells the other one the results of its own contexts. Both wait for each other before
/// every commit, so commits have the same place in both histories.
final class MergePartner {
  /// The number of this process, 0 or 1.
  let place: Int
  private let input: UnsafeMutablePointer<FILE>
  private let output: UnsafeMutablePointer<FILE>

  /// Makes the pipes of two processes.
  static func makePipes(in folder: TemporaryFolder) throws {
    for name in ["0", "1"] {
      guard mkfifo(folder.path(name), 0o600) == 0 else { throw Self.failure("mkfifo") }
    }
  }

  /// Waits until the other process has opened the pipes, too.
  init(place: Int, folder: String) throws {
    self.place = place
    signal(SIGPIPE, SIG_IGN)
    // Opening a pipe waits for its other end, so both processes open the same pipe first.
    let files = [0, 1].map { fopen("\(folder)/\($0)", $0 == place ? "w" : "r") }
    guard let output = files[place], let input = files[1 - place] else {
      throw Self.failure("fopen")
    }
    (self.input, self.output) = (input, output)
  }

  deinit {
    fclose(input)
    fclose(output)
  }

  func owns(_ index: Int) -> Bool { index % 2 == place }

  /// Waits until the other process has come to the same place of the history.
  func meet() throws {
    try send("")
    guard try receive().isEmpty else { throw Self.failure("different places") }
  }

  /// Tells the other process a text without newlines.
  func send(_ text: String) throws {
    guard fputs(text + "\n", output) >= 0, fflush(output) == 0 else { throw Self.failure("fputs") }
  }

  /// Returns what the other process tells.
  func receive() throws -> String {
    var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
    defer { free(line) }
    guard getline(&line, &capacity, input) > 0, let line else {
      throw Mismatch(description: "the other process has ended")
    }
    return String(String(cString: line).dropLast())
  }

  private static func failure(_ what: String) -> Mismatch {
    Mismatch(description: "\(what): \(String(cString: strerror(errno)))")
  }
}
