package io.pqcbench.analysis.report;

import static org.assertj.core.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** Debian's Chromium without a window. */
final class Browser implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static final Logger QUIET = Logger.getLogger("org.openqa.selenium.devtools");

  private final ChromeDriver driver;

  private Browser(ChromeDriver driver) {
    this.driver = driver;
  }

  /** Skips the tests, saying why, where there is no Chromium; in CI that is a failure. */
  static Browser require() {
    Path chromium = onPath("chromium");
    Path chromedriver = onPath("chromedriver");
    if (chromium == null || chromedriver == null) {
      String reason =
          "no browser: chromium="
              + chromium
              + " chromedriver="
              + chromedriver
              + "; install Debian's packages: apt-get install chromium chromium-driver";
      if ("true".equals(System.getenv("CI"))) {
        fail("needed in CI: " + reason);
      }
      System.out.println("skipped, " + reason);
      Assumptions.abort(reason);
    }
    // It looks for bindings of the browser's version to a protocol that is used without any here.
    QUIET.setLevel(Level.SEVERE);
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    logs.enable(LogType.PERFORMANCE, Level.ALL);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(chromium.toFile());
    // Root has no sandbox, and a container little shared memory.
    options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage");
    options.setCapability("goog:loggingPrefs", logs);
    ChromeDriverService service =
        new ChromeDriverService.Builder().usingDriverExecutable(chromedriver.toFile()).build();
    return new Browser(new ChromeDriver(service, options));
  }

  private static Path onPath(String name) {
    return Arrays.stream(System.getenv("PATH").split(":", -1))
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst()
        .orElse(null);
  }

  /** Opens a file in a window of a width, in CSS pixels. */
  void open(Path page, int width, boolean dark) {
    width(width);
    media("", dark);
    driver.get(page.toUri().toString());
  }

  void width(int pixels) {
    command(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", pixels, "height", 900, "deviceScaleFactor", 1, "mobile", false));
  }

  /**
   * Sets what the style sheets are asked.
   *
   * @param type "print", or "" for the screen
   */
  void media(String type, boolean dark) {
    Map<String, String> scheme =
        Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light");
    command("Emulation.setEmulatedMedia", Map.of("media", type, "features", List.of(scheme)));
  }

  void scripts(boolean on) {
    command("Emulation.setScriptExecutionDisabled", Map.of("value", !on));
  }

  Map<String, Object> command(String name, Map<String, Object> parameters) {
    return driver.executeCdpCommand(name, parameters);
  }

  WebElement one(String selector) {
    return driver.findElement(By.cssSelector(selector));
  }

  List<WebElement> all(String selector) {
    return driver.findElements(By.cssSelector(selector));
  }

  /** Runs a function's body in the page. */
  Object run(String script, Object... arguments) {
    return driver.executeScript(script, arguments);
  }

  long number(String expression, Object... arguments) {
    return ((Number) run("return Math.ceil(" + expression + ")", arguments)).longValue();
  }

  WebElement focused() {
    return driver.switchTo().activeElement();
  }

  /** Presses keys where the focus is. */
  void press(CharSequence... keys) {
    new Actions(driver).sendKeys(keys).perform();
  }

  void hover(WebElement element) {
    run("arguments[0].scrollIntoView({block: 'center'})", element);
    new Actions(driver).moveToElement(element).perform();
  }

  /** What is drawn on the next frame is not there at once. */
  void await(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        fail("waited " + PATIENCE + " for: " + what);
      }
      Thread.sleep(20);
    }
  }

  /** What it has complained about since the last call. */
  List<String> complaints() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
        .map(entry -> entry.getLevel() + " " + entry.getMessage())
        .toList();
  }

  /** The addresses that were asked for since the last call. */
  List<String> requests() throws IOException {
    List<String> requests = new ArrayList<>();
    for (var entry : driver.manage().logs().get(LogType.PERFORMANCE)) {
      JsonNode message = JSON.readTree(entry.getMessage()).path("message");
      if (message.path("method").asText().equals("Network.requestWillBeSent")) {
        requests.add(message.at("/params/request/url").asText());
      }
    }
    return requests;
  }

  @Override
  public void close() {
    driver.quit();
  }
}
