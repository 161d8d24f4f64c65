import "../shared/theme";
import { runPage } from "../shared/message";
import { pagePayload } from "../shared/payload";

runPage("This report", () => {
    pagePayload("report");
});
