import Foundation
import Testing
import LMDB

@Suite struct ProcessNameTests {
  #if os(Linux)
    @Test("The name of a process is that of the system")
    func isWhatTheSystemSays() throws {
      let name = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8)
      #expect(ProcessName.of(getpid()).map { $0 + "\n" } == name)
      #expect(ProcessName.of(1) != nil)
    }
  #endif

  @Test("A missing process has no name")
  func processesThatAreGoneHaveNone() {
    // Greater than the largest process ID.
    #expect(ProcessName.of(.max) == nil)
  }
}
