import ArborData
import ArborModel
import Foundation
import Testing
import ArborBrowser

/// Bookmarks, which have no token.
@Suite(.serialized, .enabled(if: Chromium.executable != nil)) struct PageTokenTests {
  private func bookmark(_ served: ServedStore) throws -> URL {
    try #require(
      URL(
        string: "http://127.0.0.1:\(served.client.port)/#/objects/Employee?where=age%20%3E%2040"))
  }

  /// The page asks for the address, refuses a wrong one, and then shows what was bookmarked.
  @Test func thePrintedAddressIsPasted() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try page.open(try bookmark(served))
      try page.exists(".token")
      #expect(try PageAudit.problems(in: page) == [])
      try page.evaluate("document.querySelector('#address').focus()")
      try page.type("http://127.0.0.1:1/#token=\(String(repeating: "0", count: 32))")
      try page.press("Enter")
      try page.wait(
        "document.querySelector('#address-problem').innerText.startsWith('This is not')")
      #expect(try page.evaluate("sessionStorage.length") == 0)
      try page.evaluate("document.querySelector('#address').select()")
      try page.type(served.browser.url.absoluteString)
      try page.press("Enter")
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('9 objects')")
      #expect(try page.evaluate("location.hash") == "#/objects/Employee?where=age%20%3E%2040")
      #expect(page.complaints == [])
    }
  }

  /// The page continues by itself once another tab has the token.
  @Test func anotherTabBringsTheToken() throws {
    try ServedStore.use { served in
      let page = try Chromium()
      try page.open(try bookmark(served))
      try page.exists(".token")
      try page.inNewTab(served.browser.url) { try page.exists(".box") }
      try page.wait("document.querySelector('.summary')?.innerText.startsWith('9 objects')")
      #expect(page.complaints == [])
    }
  }

  /// A token of a former run is forgotten.
  @Test func aFormerTokenIsForgotten() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("sessionStorage.setItem('token', '0'.repeat(32))")
      try page.reload()
      try page.wait("!window.isFormer && document.querySelector('.token')")
      #expect(try page.evaluate("sessionStorage.getItem('token')") == .null)
      #expect(page.complaints == [])
    }
  }
}
